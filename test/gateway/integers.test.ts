import { once } from 'node:events'
import type { SimulatorOptions } from 'informerql/simulator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { rawJson } from '../support/raw-json.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { makeNamespaces } from './random-writes.ts'
import { describeClusters } from './test-cluster.ts'

/** Not a double: the nearest are ...992 and ...994. */
const digits = '9007199254740993'
const later = '9223372036854775807'
const path = '/api/v1/namespaces/integers/pods'

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'large', namespace: 'integers' },
  spec: {
    containers: [{ name: 'main', image: 'nginx:1' }],
    terminationGracePeriodSeconds: rawJson(digits),
    tolerations: [
      {
        key: 'example.com/slow',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: rawJson(later),
      },
    ],
  },
}

/** The simulator reads the bodies of requests as JavaScript does: what it is to hold exactly is put into its storage. */
const putPod: SimulatorOptions['populate'] = (storage) => {
  storage.create({ group: '', version: 'v1', resource: 'pods' }, pod)
}

/** The first answer to a subscription, as the WebSocket brings it. */
const firstMessage = async (url: string, query: string): Promise<string> => {
  const socket = new WebSocket(url.replace('http', 'ws'), ['graphql-transport-ws'])
  const signal = AbortSignal.timeout(30_000)
  const next = async (): Promise<string> => {
    const [message] = (await once(socket, 'message', { signal })) as [Buffer]
    return message.toString()
  }
  try {
    await once(socket, 'open', { signal })
    socket.send(JSON.stringify({ type: 'connection_init' }))
    await next()
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }))
    return await next()
  } finally {
    socket.terminate()
  }
}

describeClusters(
  'an integer beyond 2^53',
  (cluster) => {
    let gateway: ServedGateway

    beforeAll(async () => {
      await makeNamespaces(cluster(), ['integers'])
      await cluster().request(path, { method: 'POST', body: pod })
      gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster().selection }] })
    })
    afterAll(async () => gateway[Symbol.asyncDispose]())

    it('keeps its digits, in answers and in frames', async () => {
      const raw = await cluster().request(`${path}/large`)
      expect(raw.text).toContain(`"terminationGracePeriodSeconds":${digits}`)
      const text = await gateway.queryText(`{
      pod(namespace: "integers", name: "large") {
        spec { terminationGracePeriodSeconds tolerations { key tolerationSeconds } }
        json(path: "spec.terminationGracePeriodSeconds")
      }
    }`)
      expect(text).toContain(`"terminationGracePeriodSeconds":${digits}`)
      expect(text).toContain(`"tolerationSeconds":${later}`)
      expect(text).toContain(`"json":${digits}`)
      const frame = await firstMessage(
        gateway.url,
        'subscription { pods(namespace: "integers") { changes { object { spec { terminationGracePeriodSeconds } } } } }',
      )
      expect(frame).toContain(`"terminationGracePeriodSeconds":${digits}`)
    })
  },
  { simulator: { populate: putPod } },
)
