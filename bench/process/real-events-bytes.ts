/**
 * The lower bound for a watch in JSON: a watch of pods on a real API server that only searches the events for the time of their
 * write. Arguments: the path of the kubeconfig, the time in milliseconds.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get, type RequestOptions } from 'node:https'
import { json } from 'node:stream/consumers'
import { KubeConfig } from '@kubernetes/client-node'
import { EventReport } from '../support/event-report.ts'
import { writtenAnnotation } from '../support/pod-updates.ts'

const [kubeconfig = '', durationMs = ''] = process.argv.slice(2)
const config = new KubeConfig()
config.loadFromFile(kubeconfig)
const options: RequestOptions = { headers: { accept: 'application/json' } }
await config.applyToHTTPSOptions(options)

async function ask(path: string): Promise<IncomingMessage> {
  const url = `${config.getCurrentCluster()?.server}${path}`
  const [response] = (await once(get(url, options), 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
  return response
}

const report = new EventReport()
const mark = Buffer.from(`"${writtenAnnotation}":"`)
/** So long is the mark with the digits and the quote after it, at most. */
const width = mark.length + 24

/** From now on; again and again, since a server that falls behind ends the watch. */
async function follow(): Promise<never> {
  while (true) {
    const list = (await json(await ask('/api/v1/namespaces/none/pods?resourceVersion=0'))) as {
      readonly metadata: { readonly resourceVersion: string }
    }
    const { resourceVersion } = list.metadata
    const watch = await ask(`/api/v1/pods?watch=1&resourceVersion=${resourceVersion}`)
    let rest: Buffer = Buffer.alloc(0)
    watch.on('data', (chunk: Buffer) => {
      const text = Buffer.concat([rest, chunk])
      let from = 0
      for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, from)) {
        const end = text.indexOf('"', at + mark.length)
        if (end < 0) break
        report.written(text.toString('latin1', at + mark.length, end))
        from = end
      }
      rest = text.subarray(Math.max(from, text.length - width))
    })
    await once(watch, 'close')
    console.error('the server has ended the watch')
  }
}

const following = follow()
console.log('synced')
await Promise.race([report.run(Number(durationMs)), following])
process.exit(0)
