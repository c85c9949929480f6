import { randomUUID } from 'node:crypto';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { handleUnaryCall } from '@grpc/grpc-js';

/** The protocol that is spoken, in a form that nobody mistakes for a real node. Caught-up messages came with 23.10. */
const SERVER_VERSION = '23.10.0-anvil-embedded';

/** Exactly what this node serves. A client takes what is missing here for unsupported, and what it calls all the same is UNIMPLEMENTED. */
const METHODS: readonly (readonly [service: string, method: string])[] = [
  ['event_store.client.streams.streams', 'append'],
  ['event_store.client.streams.streams', 'batchappend'],
  ['event_store.client.streams.streams', 'read'],
  ['event_store.client.streams.streams', 'delete'],
  ['event_store.client.streams.streams', 'tombstone'],
  ['event_store.client.gossip.gossip', 'read'],
  ['event_store.client.server_features.serverfeatures', 'getsupportedmethods'],
];

export const getSupportedMethods: handleUnaryCall<shared.Empty, features.SupportedMethods> = (_call, callback) => {
  const answer = new features.SupportedMethods();
  answer.setEventStoreServerVersion(SERVER_VERSION);
  for (const [service, name] of METHODS) {
    const method = new features.SupportedMethod();
    method.setServiceName(service);
    method.setMethodName(name);
    answer.addMethods(method);
  }
  callback(null, answer);
};

/** Gossip of a cluster of one, for clients that were given several hosts or look for a leader. */
export function createGossipRead(host: string, port: () => number): handleUnaryCall<shared.Empty, gossip.ClusterInfo> {
  const instance = new shared.UUID();
  instance.setString(randomUUID());
  return (_call, callback) => {
    const endPoint = new gossip.EndPoint();
    endPoint.setAddress(host);
    endPoint.setPort(port());
    const member = new gossip.MemberInfo();
    member.setInstanceId(instance);
    member.setTimeStamp(`${Date.now()}0000`);
    member.setState(gossip.MemberInfo.VNodeState.LEADER);
    member.setIsAlive(true);
    member.setHttpEndPoint(endPoint);
    const answer = new gossip.ClusterInfo();
    answer.addMembers(member);
    callback(null, answer);
  };
}
