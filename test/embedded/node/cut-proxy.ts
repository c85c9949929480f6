import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';

/**
 * Stands between a node and its PostgreSQL, and can lose one half of the talk: what the server was told, or what it answered. Either way the
 * connection then breaks, and the node cannot know whether its last commit took place.
 */
export class CutProxy {
  private constructor(
    readonly connectionString: string,
    private readonly pairs: Set<{ near: Socket; far: Socket }>,
    private readonly state: { lose: 'requests' | 'answers' | null },
    private readonly server: ReturnType<typeof createServer>,
  ) {}

  static async start(databaseUrl: string): Promise<CutProxy> {
    const { host, port, user, password, database } = new pg.Client({ connectionString: databaseUrl });
    const state: { lose: 'requests' | 'answers' | null } = { lose: null };
    const pairs = new Set<{ near: Socket; far: Socket }>();
    const server = createServer((near) => {
      const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
      const pair = { near, far };
      pairs.add(pair);
      const end = () => {
        near.destroy();
        far.destroy();
        pairs.delete(pair);
      };
      near.on('data', (bytes) => state.lose !== 'requests' && far.write(bytes));
      far.on('data', (bytes) => state.lose !== 'answers' && near.write(bytes));
      for (const socket of [near, far]) socket.on('error', end).on('close', end);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: own } = server.address() as { port: number };
    const login = password ? `${encodeURIComponent(user ?? '')}:${encodeURIComponent(String(password))}` : encodeURIComponent(user ?? '');
    return new CutProxy(`postgresql://${login}@127.0.0.1:${own}/${database}`, pairs, state, server);
  }

  lose(half: 'requests' | 'answers'): void {
    this.state.lose = half;
  }

  /** Breaks all connections, and loses nothing any more. */
  cut(): void {
    for (const { near, far } of this.pairs) {
      near.destroy();
      far.destroy();
    }
    this.state.lose = null;
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
