import channels from '@grpc/grpc-js/build/src/channel.js';

const WINDOW_BYTES = 512 * 1024;

/**
 * For a thread that is busy for long between two looks at its connections: what the server may send meanwhile is 64 KB otherwise, some 25
 * events, and most of what is to be read is then waited for. The client (6.2.1) has no option for it, so its channels get grpc-js's here.
 */
export function widenWindow(): void {
  const { ChannelImplementation } = channels;
  channels.ChannelImplementation = class extends ChannelImplementation {
    constructor(...[target, credentials, options]: ConstructorParameters<typeof ChannelImplementation>) {
      super(target, credentials, { ...options, 'grpc-node.flow_control_window': WINDOW_BYTES });
    }
  };
}
