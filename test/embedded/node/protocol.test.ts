import {
  ErrorType,
  EventStoreDBClient,
  excludeSystemEvents,
  jsonEvent,
  persistentSubscriptionToStreamSettingsFromDefaults,
  streamNameFilter,
} from '@eventstore/db-client';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { jest } from '@jest/globals';
import timestamps from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { type EmbeddedNode, startNode } from '../../../src/embedded/node/start-node.js';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.js';
import { collect, event, failure, newStream } from './contract/support.js';

const { ReadReq, BatchAppendReq } = streams;
const empty = () => new shared.Empty();

/** The protocol itself: what the client never sends, sends wrongly only in other hands, or hides from its user. */
describe('the protocol of the embedded node', () => {
  let postgres: TestPostgres;
  let node: EmbeddedNode;
  let client: EventStoreDBClient;
  let raw: InstanceType<typeof streamsService.StreamsClient>;
  beforeAll(async () => {
    postgres = await startTestPostgres();
    node = await startNode({ databaseUrl: postgres.connectionString, maxAppendSize: 64 * 1024 });
    client = EventStoreDBClient.connectionString(node.connectionString);
    raw = new streamsService.StreamsClient(`127.0.0.1:${node.port}`, credentials.createInsecure());
    await client.appendToStream(newStream('warm-up'), event(0));
  }, 60_000);
  afterAll(async () => {
    raw?.close();
    await client?.dispose();
    await node?.stop();
    await postgres?.stop();
  });
  /** Whatever was sent, the node must still be there. */
  afterEach(async () => {
    await client.appendToStream(newStream('alive'), event(0));
  });

  function identifier(name: string | Uint8Array): shared.StreamIdentifier {
    return new shared.StreamIdentifier().setStreamName(typeof name === 'string' ? Buffer.from(name) : name);
  }

  function readOptions(change: (options: streams.ReadReq.Options) => void): streams.ReadReq {
    const options = new ReadReq.Options();
    options.setAll(new ReadReq.Options.AllOptions().setStart(empty()));
    options.setCount('10');
    options.setNoFilter(empty());
    options.setUuidOption(new ReadReq.Options.UUIDOption().setString(empty()));
    change(options);
    return new ReadReq().setOptions(options);
  }

  const read = (request: streams.ReadReq): Promise<streams.ReadResp[]> => collect(raw.read(request));

  describe('what is not supported is refused, never accepted and ignored', () => {
    test('persistent subscriptions', async () => {
      const settings = persistentSubscriptionToStreamSettingsFromDefaults();
      const error = await failure(client.createPersistentSubscriptionToStream('stream', 'group', settings));
      expect(error.code).toBe(status.UNIMPLEMENTED);
      const subscription = client.subscribeToPersistentSubscriptionToStream('stream', 'group');
      const thrown = await new Promise<ServiceError>((resolve) => subscription.on('error', resolve as (error: Error) => void));
      expect(thrown.code).toBe(status.UNIMPLEMENTED);
    });

    test('projections', async () => {
      expect((await failure(client.createProjection('name', 'fromAll()'))).code).toBe(status.UNIMPLEMENTED);
    });

    test('links', async () => {
      expect((await failure(collect(client.readStream('any', { resolveLinkTos: true })))).code).toBe(status.UNIMPLEMENTED);
      expect((await failure(collect(client.readAll({ resolveLinkTos: true })))).code).toBe(status.UNIMPLEMENTED);
    });

    test('newer kinds of reads', async () => {
      const request = readOptions((options) => options.setControlOption(new ReadReq.Options.ControlOption().setCompatibility(1)));
      expect((await failure(read(request))).code).toBe(status.UNIMPLEMENTED);
    });
  });

  test('the features that are advertised are the ones that are served', async () => {
    const features = new featuresService.ServerFeaturesClient(`127.0.0.1:${node.port}`, credentials.createInsecure());
    const answer = await new Promise<string[]>((resolve, reject) =>
      features.getSupportedMethods(empty(), (error, methods) =>
        error ? reject(error) : resolve(methods.getMethodsList().map((method) => `/${method.getServiceName()}/${method.getMethodName()}`)),
      ),
    );
    features.close();
    const served = [streamsService.StreamsService, featuresService.ServerFeaturesService, { read: gossipService.GossipService.read }]
      .flatMap((service) => Object.values(service))
      .map(({ path }: { path: string }) => path.toLowerCase());
    expect(answer.sort()).toEqual(served.sort());
  });

  test('gossip tells of one living leader', async () => {
    const gossipClient = new gossipService.GossipClient(`127.0.0.1:${node.port}`, credentials.createInsecure());
    const answer = await new Promise<gossip.ClusterInfo.AsObject>((resolve, reject) =>
      gossipClient.read(empty(), (error, info) => (error ? reject(error) : resolve(info.toObject()))),
    );
    gossipClient.close();
    expect(answer.membersList).toMatchObject([
      { isAlive: true, state: gossip.MemberInfo.VNodeState.LEADER, httpEndPoint: { address: '127.0.0.1', port: node.port } },
    ]);
  });

  test('ids are given in the form that was asked for', async () => {
    const stream = newStream('ids');
    const id = 'f0f1f2f3-0405-8607-8899-aabbccddeeff';
    await client.appendToStream(stream, jsonEvent({ id, type: 'x', data: {} }));
    const request = (option: streams.ReadReq.Options.UUIDOption) =>
      readOptions((options) => {
        options.setStream(new ReadReq.Options.StreamOptions().setStreamIdentifier(identifier(stream)).setStart(empty()));
        options.setUuidOption(option);
      });
    const [structured] = await read(request(new ReadReq.Options.UUIDOption().setStructured(empty())));
    const parts = structured!.getEvent()!.getEvent()!.getId()!.getStructured()!;
    expect(BigInt.asUintN(64, BigInt(parts.getMostSignificantBits())).toString(16)).toBe('f0f1f2f304058607');
    expect(BigInt.asUintN(64, BigInt(parts.getLeastSignificantBits())).toString(16)).toBe('8899aabbccddeeff');
    const [text] = await read(request(new ReadReq.Options.UUIDOption().setString(empty())));
    expect(text!.getEvent()!.getEvent()!.getId()!.getString()).toBe(id);
  });

  test('reads of $all can be filtered, in both directions', async () => {
    const prefix = newStream('filtered');
    for (let n = 0; n < 6; n++) await client.appendToStream(n % 2 === 0 ? prefix : newStream('noise'), event(n));
    const expression = new ReadReq.Options.FilterOptions.Expression().setPrefixList([prefix]);
    const filter = new ReadReq.Options.FilterOptions().setStreamIdentifier(expression).setCount(empty()).setCheckpointintervalmultiplier(1);
    const revisions = async (direction: 0 | 1, count: string) => {
      const found = await read(
        readOptions((options) => {
          const all = new ReadReq.Options.AllOptions();
          options.setAll(direction === 0 ? all.setStart(empty()) : all.setEnd(empty()));
          options.setReadDirection(direction).setFilter(filter).setCount(count);
        }),
      );
      return found.map((response) => response.getEvent()!.getEvent()!.getStreamRevision());
    };
    expect(await revisions(0, '10')).toEqual(['0', '1', '2']);
    expect(await revisions(1, '2')).toEqual(['2', '1']);
  });

  describe('what is wrong is refused as such', () => {
    test.each<[string, (options: streams.ReadReq.Options) => void]>([
      ['no stream and not $all', (options) => options.clearAll()],
      ['no count', (options) => options.clearCount()],
      ['no place to begin', (options) => options.setAll(new ReadReq.Options.AllOptions())],
      ['no stream name', (options) => options.setStream(new ReadReq.Options.StreamOptions().setStart(empty()))],
      [
        'a name that is not UTF-8',
        (options) =>
          options.setStream(new ReadReq.Options.StreamOptions().setStart(empty()).setStreamIdentifier(identifier(Uint8Array.of(255)))),
      ],
      ['a subscription backwards', (options) => options.setSubscription(new ReadReq.Options.SubscriptionOptions()).setReadDirection(1)],
      [
        'an empty filter',
        (options) => options.setFilter(new ReadReq.Options.FilterOptions().setCount(empty()).setCheckpointintervalmultiplier(1)),
      ],
    ])('a read with %s', async (_name, change) => {
      expect((await failure(read(readOptions(change)))).code).toBe(status.INVALID_ARGUMENT);
    });

    test('a read without options', async () => {
      expect((await failure(read(new ReadReq()))).code).toBe(status.INVALID_ARGUMENT);
    });

    test.each(['', '$$', '$all', 'nul\0', 'x'.repeat(1100)])('a write to the stream %j', async (name) => {
      const unary = await failure(client.appendToStream(name, event(0), { credentials: { username: 'u', password: 'p' } }));
      expect(unary.code).toBe(status.INVALID_ARGUMENT);
      const batch = await failure(client.appendToStream(name, event(0)));
      expect(batch.message).toMatch(/BadRequest|not valid/);
    });

    test.each([{ id: 'not-a-uuid' }, { type: '' }, { type: 'a\0b' }, { type: 'x'.repeat(2000) }])('an event with %j', async (wrong) => {
      const bad = jsonEvent({ type: 'x', data: {}, ...wrong });
      const unary = await failure(client.appendToStream(newStream('bad'), bad, { credentials: { username: 'u', password: 'p' } }));
      expect(unary.code).toBe(status.INVALID_ARGUMENT);
      await failure(client.appendToStream(newStream('bad'), bad));
    });

    test.each(['(a+)+$', '(a|a)*b', '(', '(.)\\1', '^.*.*.*x', 'a'.repeat(300), '(?=a)b'])('the filter %s', async (regex) => {
      const error = await failure(collect(client.subscribeToAll({ filter: streamNameFilter({ regex }) })));
      expect(error.code).toBe(status.INVALID_ARGUMENT);
    });

    test('bytes that are no message', async () => {
      const call = (path: string) =>
        new Promise((resolve, reject) =>
          raw.makeUnaryRequest(
            path,
            (bytes: Buffer) => bytes,
            (bytes) => bytes,
            Buffer.from('ffffffffff07ff', 'hex'),
            (error, answer) => (error ? reject(error) : resolve(answer)),
          ),
        );
      for (const method of ['Read', 'Append', 'Delete', 'Tombstone', 'BatchAppend']) {
        const error = await failure(call(`/event_store.client.streams.Streams/${method}`));
        expect(error.code).toBeGreaterThan(0);
      }
    });
  });

  test('a limit of one event is the protocol’s own error even for an append far beyond it', async () => {
    const huge = jsonEvent({ type: 'huge', data: { text: 'x'.repeat(6 * 1024 * 1024) } });
    for (const options of [{}, { credentials: { username: 'u', password: 'p' } }]) {
      const error = await failure(client.appendToStream(newStream('huge'), huge, options));
      expect(error).toMatchObject({ type: ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED, maxAppendSize: 64 * 1024 });
    }
  });

  describe('a batch append call', () => {
    function part(id: string, options?: streams.BatchAppendReq.Options, count = 1): streams.BatchAppendReq {
      const request = new BatchAppendReq().setCorrelationId(new shared.UUID().setString(id)).setIsFinal(true);
      if (options !== undefined) request.setOptions(options);
      for (let n = 0; n < count; n++) {
        const message = new BatchAppendReq.ProposedMessage().setId(
          new shared.UUID().setString(`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`),
        );
        message.getMetadataMap().set('type', 't').set('content-type', 'application/json');
        message.setData(Buffer.from('{}'));
        request.addProposedMessages(message);
      }
      return request;
    }
    const options = (stream: string) => new BatchAppendReq.Options().setStreamIdentifier(identifier(stream)).setNoStream(empty());
    const id = (n: number) => `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`;

    async function exchange(requests: streams.BatchAppendReq[]): Promise<Map<string, streams.BatchAppendResp>> {
      const call = raw.batchAppend();
      for (const request of requests) call.write(request);
      call.end();
      const answers = await collect<streams.BatchAppendResp>(call);
      return new Map(answers.map((answer) => [answer.getCorrelationId()!.getString(), answer]));
    }

    test('puts appends together from their parts, and answers each once', async () => {
      const stream = newStream('parts');
      const answers = await exchange([
        part(id(1), options(stream)).setIsFinal(false),
        part(id(2), options(newStream('whole'))),
        part(id(1), undefined, 3),
      ]);
      expect(answers.size).toBe(2);
      expect(answers.get(id(1))?.getSuccess()?.getCurrentRevision()).toBe('3');
      expect(await collect(client.readStream(stream))).toHaveLength(4);
    });

    test('goes on after an append that is wrong', async () => {
      const answers = await exchange([part(id(1), new BatchAppendReq.Options()), part(id(2), options(newStream('right')))]);
      expect(answers.get(id(1))?.getError()?.getDetails()?.getTypeName()).toBe('event_store.client.BadRequest');
      expect(answers.get(id(2))?.hasSuccess()).toBe(true);
    });

    test('does not write what came too late', async () => {
      const stream = newStream('late');
      const late = options(stream).setDeadline(timestamps.Timestamp.fromDate(new Date(Date.now() - 1000)));
      const answers = await exchange([part(id(1), late)]);
      expect(answers.get(id(1))?.getError()?.getDetails()?.getTypeName()).toBe('event_store.client.Timeout');
      expect((await failure(collect(client.readStream(stream)))).type).toBe(ErrorType.STREAM_NOT_FOUND);
    });

    test('ends when it cannot tell which append is meant', async () => {
      const call = raw.batchAppend();
      call.write(new BatchAppendReq().setIsFinal(true));
      expect((await failure(collect(call))).code).toBe(status.INVALID_ARGUMENT);
    });
  });

  test('checkpoints come after exactly as many events as were asked for', async () => {
    const { position } = await client.appendToStream(newStream('mark'), event(0));
    const start = position!.commit;
    await client.appendToStream(
      newStream('noise'),
      Array.from({ length: 20 }, (_, n) => event(n)),
    );
    const told: bigint[] = [];
    const subscription = client.subscribeToAll({
      fromPosition: position!,
      filter: excludeSystemEvents({
        maxSearchWindow: 3,
        checkpointInterval: 2,
        checkpointReached: async (_s, at) => void told.push(at.commit - start),
      }),
    });
    subscription.on('data', () => undefined);
    await new Promise((resolve) => subscription.once('caughtUp', resolve));
    await subscription.unsubscribe();
    // The last one is that of going live.
    expect(told).toEqual([6n, 12n, 18n, 20n]);
  });

  test('only this machine can be listened on', async () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.1', 'example.org']) {
      await expect(startNode({ databaseUrl: postgres.connectionString, host })).rejects.toThrow(
        /listens on 127\.0\.0\.1, ::1 or localhost only/,
      );
    }
    await expect(startNode({ databaseUrl: postgres.connectionString, schema: 'x"; drop' })).rejects.toThrow(/plain lower-case name/);
    // grpc-js says it on the console too.
    const quiet = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    await expect(startNode({ databaseUrl: postgres.connectionString, schema: 'second', port: node.port })).rejects.toThrow(
      /cannot listen on/,
    );
    quiet.mockRestore();
    const local = await startNode({ databaseUrl: postgres.connectionString, schema: 'second', host: 'localhost' });
    await local.stop();
  });
});
