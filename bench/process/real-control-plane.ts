/**
 * A real control plane full of pods for one benchmark, until its parent goes. Arguments: pods, and the program that
 * writes to etcd. Tells its parent `{ url }` of a server that answers `/kubeconfig` with the path of a file,
 * `/prepare?rate=1000` once updates can begin, `/update` when they do, and `/pause`, once history is forgotten, with how
 * many there were per second.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startControlPlane } from '../../test/support/control-plane.ts'
import { caughtUp, EtcdWriter, fillWithPods } from '../support/etcd-pods.ts'
import { serveParent } from '../support/service.ts'

const [count = '', program = ''] = process.argv.slice(2)
await using plane = await startControlPlane()
await fillWithPods(plane, Number(count))

let writer: EtcdWriter | undefined

const answers: Readonly<Record<string, (query: URLSearchParams) => unknown>> = {
  '/kubeconfig': () => plane.kubeconfigPath,
  '/prepare': async (query) => {
    writer = new EtcdWriter(program, plane, Number(query.get('rate')))
    await writer.ready()
  },
  '/update': () => writer?.begin(),
  '/pause': async () => {
    const rate = await writer?.end()
    writer = undefined
    await caughtUp(plane)
    await plane.compact()
    return rate
  },
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  const answered = async (): Promise<void> => {
    response.end(JSON.stringify((await answers[pathname]?.(searchParams)) ?? null))
  }
  answered().catch((error: unknown) => response.writeHead(500).end(String(error)))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
await serveParent({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
server.close()
await writer?.end()
