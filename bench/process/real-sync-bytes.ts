/**
 * The floor of a sync that speaks JSON: the whole list from a real API server, read and thrown away. Arguments: the
 * kubeconfig's path, and how many pods there are.
 */
import { once } from 'node:events'
import { get, type RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { KubeConfig } from '@kubernetes/client-node'
import { reportSync } from '../support/sync-report.ts'

const [kubeconfig = '', pods = ''] = process.argv.slice(2)
const config = new KubeConfig()
config.loadFromFile(kubeconfig)
const url = `${config.getCurrentCluster()?.server}/api/v1/pods?resourceVersion=0`
const options: RequestOptions = { headers: { accept: 'application/json' } }
await config.applyToHTTPSOptions(options)
await reportSync(async () => {
  const [response] = (await once(get(url, options), 'response')) as [IncomingMessage]
  let bytes = 0
  response.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
  return { pods: Number(pods), cache: bytes }
})
