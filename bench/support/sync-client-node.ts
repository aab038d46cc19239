import { KubeConfig, ListWatch, makeInformer } from '@kubernetes/client-node'
import { CoreV1Api } from '@kubernetes/client-node'
import { liveMemory, peakRss, watchEventLoop } from './loop-delay.ts'

/** Baseline: `makeInformer` of @kubernetes/client-node, as its documentation shows it. Arguments: URL, pods. */
const [url = '', pods = ''] = process.argv.slice(2)
const config = new KubeConfig()
config.loadFromClusterAndUser({ name: 'bench', server: url, skipTLSVerify: true }, { name: 'bench' })
const api = config.makeApiClient(CoreV1Api)
const before = liveMemory()
const longestBlockMs = watchEventLoop()
const cpu = process.cpuUsage()
const start = performance.now()
const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces())
await informer.start()
const cache = informer as unknown as ListWatch<{ metadata?: { name?: string } }>
while (cache.list().length < Number(pods)) {
  // oxlint-disable-next-line no-await-in-loop -- polls the cache
  await new Promise((resolve) => setTimeout(resolve, 5))
}
const syncMs = performance.now() - start
const { user, system } = process.cpuUsage(cpu)
const blockMs = longestBlockMs()
const heap = liveMemory() - before
console.log(
  JSON.stringify({
    syncMs,
    cpuMs: (user + system) / 1000,
    peakRssMb: peakRss() / 1e6,
    longestBlockMs: blockMs,
    bytesPerPod: heap / cache.list().length,
    pods: cache.list().length,
  }),
)
process.exit(0)
