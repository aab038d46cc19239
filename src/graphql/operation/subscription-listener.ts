import type { Listener } from '../../informer/delivery/listener.ts'
import type { ListenerRoute } from '../../informer/delivery/route.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'

/**
 * Listens to an informer for subscribers: the latest change of each object waits, in one tick with what is read of its store now.
 * What is sent is what the store holds then, which may be ahead of what has been taken from the listener.
 */
export function subscriptionListener(informer: SharedInformer, route?: ListenerRoute): Listener {
  return informer.listen({
    bufferLimit: 0,
    overflow: 'coalesce',
    replay: false,
    readsStore: true,
    ...(route === undefined ? {} : { route }),
  })
}
