import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { askGraphQL } from './graphql-client.ts'

const settleMs = 3_000
const connections = 16

interface PodName {
  readonly name: string
  readonly namespace: string
}

/** Changes every tenth pod, whose names the gateway tells, so that what is kept of it is of no more use. */
export async function changeTenth(api: string, gateway: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const body = JSON.stringify({
    metadata: { annotations: { 'bench/changed': String(Date.now()) } },
  })
  const change = async ({ namespace, name }: PodName): Promise<void> => {
    const outgoing = request(`${api}/api/v1/namespaces/${namespace}/pods/${name}`, {
      agent,
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    outgoing.end(body)
    const [response] = await once(outgoing, 'response')
    response.resume()
    await once(response, 'end')
    if (response.statusCode !== 200) throw new Error(`${namespace}/${name}: ${response.statusCode}`)
  }
  let after: string | null = null
  do {
    const text: string = await askGraphQL(gateway, {
      query: `query ($after: String) { pods(first: 5000, after: $after) {
        nodes { metadata { name namespace } } pageInfo { hasNextPage endCursor } } }`,
      variables: { after },
    })
    const { pods } = (JSON.parse(text) as { data: { pods: PodPage } }).data
    const tenth = pods.nodes.filter((_, at) => at % 10 === 0)
    for (let at = 0; at < tenth.length; at += connections) {
      await Promise.all(tenth.slice(at, at + connections).map(({ metadata }) => change(metadata)))
    }
    after = pods.pageInfo.hasNextPage ? pods.pageInfo.endCursor : null
  } while (after !== null)
  agent.destroy()
  await new Promise((resolve) => setTimeout(resolve, settleMs))
}

interface PodPage {
  readonly nodes: readonly { readonly metadata: PodName }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string }
}
