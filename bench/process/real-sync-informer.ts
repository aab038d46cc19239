/** Ours, on a real API server: api-server and shared informer. Argument: the kubeconfig's path. */
import { podInformer } from '../support/pod-informer.ts'
import { reportSync } from '../support/sync-report.ts'

const [kubeconfig = ''] = process.argv.slice(2)
await reportSync(async () => {
  const informer = podInformer(kubeconfig)
  void informer.run(new AbortController().signal)
  await informer.waitForSync({ deadlineMs: 300_000 })
  return { pods: informer.store.size, cache: informer }
})
