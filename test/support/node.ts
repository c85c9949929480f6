import { type EmbeddedNode, startNode } from '../../src/embedded/node/start-node.js';
import { startTestPostgres, type TestPostgres } from './postgres.js';

/** An event store node of the test's own, over a database of its own, which can be stopped and started again on its port. */
export class TestNode {
  private constructor(
    private readonly postgres: TestPostgres,
    private node: EmbeddedNode,
  ) {}

  static async start(): Promise<TestNode> {
    const postgres = await startTestPostgres();
    return new TestNode(postgres, await startNode({ databaseUrl: postgres.connectionString }));
  }

  get url(): string {
    return this.node.connectionString;
  }

  /** As a server does that hands its callers over to another one: it goes on, and its streaming calls end. */
  endCalls(): void {
    this.node.endCalls();
  }

  async stop(): Promise<void> {
    await this.node.stop();
  }

  async startAgain(): Promise<void> {
    this.node = await startNode({ databaseUrl: this.postgres.connectionString, port: this.node.port });
  }

  async end(): Promise<void> {
    await this.node.stop();
    await this.postgres.stop();
  }
}
