/** Peer: client-node's informer on a real API server. Argument: the kubeconfig's path. */
import { clientNodePods } from '../support/client-node-pods.ts'
import { reportSync } from '../support/sync-report.ts'

const [kubeconfig = ''] = process.argv.slice(2)
await reportSync(async () => {
  const informer = clientNodePods(kubeconfig)
  await informer.start()
  return { pods: informer.list().length, cache: informer }
})
