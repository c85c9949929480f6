/**
 * A map of which each value is made when it is first asked for, and then kept. Its keys are numbers that grow from each to the next. To
 * make it costs nothing but its keys; it never changes, and belongs below an {@link Overlay}.
 */
export class LateMap<V> implements ReadonlyMap<number, V> {
  private readonly made: (V | undefined)[];

  constructor(
    private readonly sorted: ArrayLike<number> & Iterable<number>,
    private readonly make: (index: number) => V,
  ) {
    this.made = new Array(sorted.length);
  }

  /** The value at a place in the order of the keys. */
  at(index: number): V {
    this.made[index] ??= this.make(index);
    return this.made[index];
  }

  get(key: number): V | undefined {
    const index = this.find(key);
    return index === -1 ? undefined : this.at(index);
  }

  has(key: number): boolean {
    return this.find(key) !== -1;
  }

  get size(): number {
    return this.sorted.length;
  }

  *entries(): MapIterator<[number, V]> {
    let index = 0;
    for (const key of this.sorted) {
      yield [key, this.at(index)];
      index += 1;
    }
  }

  *keys(): MapIterator<number> {
    yield* this.sorted;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[number, V]> {
    return this.entries();
  }

  forEach(visit: (value: V, key: number, map: ReadonlyMap<number, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  private find(key: number): number {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.sorted[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return this.sorted[low] === key ? low : -1;
  }
}
