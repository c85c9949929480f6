/**
 * A map over another one, which it never changes: it shows that one's entries and keeps what is set or deleted to itself. For looking
 * at what a command would lead to on a state of any size, at the cost of the command alone. Behaves as a copy would, as long as the map
 * below stays as it is.
 */
export class Overlay<K, V> extends Map<K, V> {
  private readonly own = new Map<K, V>();
  private readonly hidden = new Set<K>();
  /** How many of its own keys the map below does not show. */
  private added = 0;

  constructor(private readonly below: ReadonlyMap<K, V>) {
    super();
  }

  override get(key: K): V | undefined {
    if (this.own.has(key)) return this.own.get(key);
    return this.hidden.has(key) ? undefined : this.below.get(key);
  }

  override has(key: K): boolean {
    return this.own.has(key) || this.shows(key);
  }

  override set(key: K, value: V): this {
    if (!this.own.has(key) && !this.shows(key)) this.added += 1;
    this.own.set(key, value);
    return this;
  }

  /** What is set again after this stands last, as in any map. */
  override delete(key: K): boolean {
    const had = this.has(key);
    if (this.own.delete(key) && !this.shows(key)) this.added -= 1;
    if (this.below.has(key)) this.hidden.add(key);
    return had;
  }

  override clear(): void {
    for (const key of [...this.keys()]) this.delete(key);
  }

  override get size(): number {
    return this.below.size - this.hidden.size + this.added;
  }

  override *entries(): MapIterator<[K, V]> {
    for (const [key, value] of this.below) if (!this.hidden.has(key)) yield [key, this.own.has(key) ? this.own.get(key)! : value];
    for (const [key, value] of this.own) if (!this.shows(key)) yield [key, value];
  }

  override *keys(): MapIterator<K> {
    for (const [key] of this.entries()) yield key;
  }

  override *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  override [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  override forEach(visit: (value: V, key: K, map: Map<K, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  /** Whether an entry of the map below counts, or would without this one's own. */
  private shows(key: K): boolean {
    return !this.hidden.has(key) && this.below.has(key);
  }
}
