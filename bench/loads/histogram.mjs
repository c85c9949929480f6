/** 32 patterns a file, the first ones far more often than the last, as files are: rank r about 1/r of the time. */
const PATTERNS = 32;
const ATTEMPTS = `CREATE TABLE bench.failures AS
  SELECT 'bench' AS repo, 'src/file-' || floor($files ^ random())::integer || '.rs' AS file, 'E0' || (100 + floor(${PATTERNS} ^ random())::integer) AS pattern,
    'builder' AS seat, 'small-9b' AS model, now() - random() * interval '30 days' AS at
  FROM generate_series(1, $attempts)`;
const COUNTERS = `CREATE TABLE bench.counters AS SELECT repo, file, pattern, seat, model, count(*) AS attempts, min(at) AS first, max(at) AS last
  FROM bench.failures GROUP BY repo, file, pattern, seat, model`;
const READ_MODEL = `INSERT INTO anvil_read."failure_histogram_patterns"
  ("repo", "targetFile", "patternKey", "pattern", "code", "category", "seat", "model", "attempts", "firstSeen", "lastSeen")
  SELECT repo, file, pattern, lower(pattern), pattern, 'ownership', seat, model, attempts, first, last FROM bench.counters`;
const GROUPED = `SELECT repo, file, pattern, seat, model, count(*) AS attempts, min(at), max(at) FROM bench.failures
  GROUP BY repo, file, pattern, seat, model ORDER BY attempts DESC LIMIT 100`;
const KEPT = 'SELECT * FROM bench.counters ORDER BY attempts DESC LIMIT 100';

/** The most frequent failures of all: from the read model, grouped from a plain table, and from counters kept in one. */
export class HistogramLoads {
  constructor({ service, pool }) {
    Object.assign(this, { service, pool });
  }

  /** Made inside the database, and the read model's rows written there too: projecting them is not what is measured. */
  async fill({ attempts, files }) {
    await this.pool.query('CREATE SCHEMA IF NOT EXISTS bench');
    await this.pool.query(ATTEMPTS.replace('$files', String(files)).replace('$attempts', String(attempts)));
    await this.pool.query(COUNTERS);
    await this.pool.query(READ_MODEL);
    await this.pool.query('VACUUM (ANALYZE) bench.failures, bench.counters, anvil_read."failure_histogram_patterns"');
    return { rows: (await this.pool.query('SELECT count(*)::integer AS n FROM bench.counters')).rows[0].n };
  }

  async asked(count) {
    return Array.from({ length: count }, () => () => this.service.get('/v1/histograms?order=attempts&limit=100'));
  }

  async grouped(count) {
    return Array.from({ length: count }, () => () => this.pool.query(GROUPED));
  }

  async kept(count) {
    return Array.from({ length: count }, () => () => this.pool.query(KEPT));
  }

  async indexed(count) {
    await this.pool.query('CREATE INDEX IF NOT EXISTS counters_attempts ON bench.counters (attempts)');
    const calls = await this.kept(count);
    return calls;
  }
}
