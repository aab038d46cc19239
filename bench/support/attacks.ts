import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { attackOperations, type AttackOperation } from '../../test/abuse/attack-operations.ts'
import { costlyQueries } from '../../test/abuse/costly-operations.ts'
import { type AttackSocket, openAttackSocket } from './attack-socket.ts'
import { gatewayToken } from './identities.ts'

/** The target of an attack, and the attacker's identity. */
export interface Target {
  readonly url: string
  readonly authorization: string
  /** The API server behind the gateway, where an attacker with write access creates objects. */
  readonly cluster: string
}

/** One attack by one transport, which many lanes do again and again. */
export interface Attack {
  readonly title: string
  readonly transport: 'http' | 'websocket'
  readonly lanes: number
  /** Prepares one lane; what it returns is done again and again, and answers with what the gateway said to it: a code, or a status. */
  readonly open: (target: Target, signal: AbortSignal) => Promise<() => Promise<string>>
}

const lanes = 16
const json = { 'content-type': 'application/json' }

type Sent = Omit<RequestInit, 'signal' | 'method'>

const post = async ({ url }: Target, sent: Sent, signal: AbortSignal): Promise<string> => {
  const response = await fetch(url, { method: 'POST', ...sent, signal })
  const text = await response.text()
  // The first error, of an answer or of a stream of events.
  return /"code":"(\w+)"/.exec(text)?.[1] ?? String(response.status)
}

const byHttp = (title: string, sent: (target: Target) => Sent): Attack => ({
  title,
  transport: 'http',
  lanes,
  open: async (target, signal) => () => post(target, sent(target), signal),
})

const postOf = (
  title: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Attack =>
  byHttp(title, ({ authorization }) => ({ headers: { ...json, authorization, ...headers }, body }))

/** On one socket after the other, each of which is closed for it. */
const bySocket = (
  title: string,
  attempt: (socket: AttackSocket) => Promise<string>,
  { init = true, many = lanes }: { readonly init?: boolean; readonly many?: number } = {},
): Attack => ({
  title,
  transport: 'websocket',
  lanes: many,
  open: async (target, signal) => async () => {
    const socket = await openAttackSocket(target, signal, init)
    try {
      return await attempt(socket)
    } finally {
      socket.end()
    }
  },
})

const operationAttacks = ([title, { query, variables = {} }]: [string, AttackOperation]): readonly [
  Attack,
  Attack,
] => [
  postOf(title, JSON.stringify({ query, variables })),
  {
    title,
    transport: 'websocket',
    lanes,
    open: async (target, signal) => {
      const socket = await openAttackSocket(target, signal, true)
      return () => socket.ask({ query, variables })
    },
  },
]

/** Lines as they are, over a connection of its own, and the status of what comes back. */
const raw = (
  title: string,
  transport: Attack['transport'],
  lines: (target: Target) => readonly string[],
  { body = '', many = lanes }: { readonly body?: string; readonly many?: number } = {},
): Attack => ({
  title,
  transport,
  lanes: many,
  open: async (target, signal) => async () => {
    const { hostname, port, host } = new URL(target.url)
    const socket: Socket = connect(Number(port), hostname)
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
    const method = transport === 'http' ? 'POST' : 'GET'
    const head = [`${method} /graphql HTTP/1.1`, `host: ${host}`, ...lines(target)].join('\r\n')
    socket.write(`${head}\r\n\r\n${body}`)
    const [data] = (await once(socket, 'data', { signal })) as [Buffer]
    socket.destroy()
    return data.toString('latin1').split(' ')[1] ?? ''
  },
})

const upgrade = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol: graphql-transport-ws',
]
const one = { query: '{ __typename }' }
const largeBody = { query: `{ ${'a '.repeat(100_000)} }` }
const bomb = new Uint8Array(gzipSync(JSON.stringify({ query: `{ ${'a '.repeat(5_000_000)} }` })))
const forgedToken = {
  query: 'subscription ($from: String) { pods(resumeFrom: $from) { synced } }',
  variables: { from: Buffer.from('["forged"]').toString('base64url') },
}
const evil = 'origin: https://evil.example'
const subscription = { query: 'subscription { namespaces { synced } }' }
const typed = 'content-type: application/json'
/** Some 10 MB. */
const unread = {
  query: `{ ${Array.from({ length: 4 }, (_, at) => `a${at}: pods(first: 500) { nodes { json } }`).join(' ')} }`,
}
const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses'
/** An object that is as large as an API server takes, and another one with each call. */
const ingressOf = (turn: number): string =>
  JSON.stringify({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'large' },
    spec: {
      defaultBackend: { service: { name: 'web', port: { number: 80 } } },
      rules: Array.from({ length: 20_000 }, (_, at) => ({ host: `h${at}-${turn}.example.com` })),
    },
  })
/** Few lines of each: a simulated API server takes longer to write them than the gateway to read them. */
const manyLogs = 'podLogs(labelSelector: "app.kubernetes.io/name", tailLines: 300'
const unreadLogs = { query: `subscription { ${manyLogs}) { lines { text } } }` }
const filteredLogs = `{ ${manyLogs}, contains: "no line has this") { lines { text } } }`
const eventStream = 'text/event-stream'
const comeBack = {
  query: 'subscription ($from: String) { pods(resumeFrom: $from) { changes { object { json } } } }',
}
let comingBackFrom: Promise<string> | undefined
const applied = 'mutation ($it: JSON!) { apply(manifest: $it, namespace: "default") { behind } }'
const yaml = (data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: ${data}\n`
/** As long to parse as any. */
const longYaml = yaml(`{${Array.from({ length: 5_500 }, (_, at) => `k${at}: "1"`).join(', ')}}`)

/** A mutation of one object, whose id is asked for first. */
const mutationOf = (
  title: string,
  lookup: string,
  mutation: (id: string) => string,
  variables: object = {},
): Attack => ({
  title,
  transport: 'http',
  lanes,
  open: async (target, signal) => {
    const headers = { ...json, authorization: target.authorization }
    const asked = {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: `{ it: ${lookup} { id } }` }),
    }
    const { data } = (await (await fetch(target.url, { ...asked, signal })).json()) as {
      data: { it: { id: string } }
    }
    const body = JSON.stringify({ query: mutation(data.it.id), variables })
    return () => post(target, { headers, body }, signal)
  },
})
const large = 'configMap(namespace: "default", name: "large")'
const door = 'secret(namespace: "default", name: "door")'
const patchOf =
  (type: string) =>
  (id: string): string =>
    `mutation ($patch: JSON!) { patch(id: "${id}", type: ${type}, patch: $patch, dryRun: true) { changes { after } } }`

/** A resume token, behind which 300 pods have changed since. */
async function tokenBeforeChanges(
  { url, authorization, cluster }: Target,
  signal: AbortSignal,
): Promise<string> {
  const query = '{ pods(first: 300) { resumeToken nodes { metadata { namespace name } } } }'
  const headers = { ...json, authorization }
  const answer = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
    signal,
  })
  const { pods } = ((await answer.json()) as { data: { pods: ChangedPods } }).data
  for (const { metadata } of pods.nodes) {
    await fetch(`${cluster}/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${gatewayToken}`,
        'content-type': 'application/merge-patch+json',
      },
      body: '{"metadata":{"annotations":{"changed":"yes"}}}',
      signal,
    })
  }
  return pods.resumeToken
}

interface ChangedPods {
  readonly resumeToken: string
  readonly nodes: readonly {
    readonly metadata: { readonly namespace: string; readonly name: string }
  }[]
}

/** Asks on a connection of its own and reads nothing of the answer, until that is cut off. */
async function unreadUntilCut(
  { url, authorization }: Target,
  asked: object,
  accept: string,
  signal: AbortSignal,
): Promise<string> {
  const { hostname, port, host } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname }).pause()
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  const body = JSON.stringify(asked)
  const length = `content-length: ${Buffer.byteLength(body)}`
  const lines = [typed, `accept: ${accept}`, `authorization: ${authorization}`, length]
  const head = ['POST /graphql HTTP/1.1', `host: ${host}`, ...lines].join('\r\n')
  socket.write(`${head}\r\n\r\n${body}`)
  await once(socket, 'close', { signal })
  return 'cut off'
}

const unpaid = new Set([
  'the values of facets under long names',
  '300 aliases of the cursor of each row',
])
/** So many of one kind are held at the same time. */
const held = 60
let tokens = 0
let questions = 0
let names = 0

/** Every attack, by each transport that there is for it. */
export const attacks: readonly Attack[] = [
  ...Object.entries(attackOperations).flatMap(operationAttacks),
  ...costlyQueries
    .filter(({ title }) => unpaid.has(title))
    .flatMap((costly) => operationAttacks([costly.title, { ...costly, code: costly.error.code }])),
  postOf('batches', JSON.stringify(Array.from({ length: 50 }, () => one))),
  bySocket('batches', (socket) => socket.closedBy({ type: 'subscribe', id: '1', payload: [one] })),
  postOf('bodies that are too large', JSON.stringify(largeBody)),
  bySocket('bodies that are too large', (socket) =>
    socket.closedBy({ type: 'subscribe', id: '1', payload: largeBody }),
  ),
  postOf('operations whose answer nobody accepts', JSON.stringify(one), {
    accept: 'multipart/mixed',
  }),
  postOf('compressed bombs', bomb, { 'content-encoding': 'gzip' }),
  raw(
    'bodies that never end',
    'http',
    ({ authorization }) => [typed, `authorization: ${authorization}`, 'content-length: 1000'],
    { body: '{', many: held },
  ),
  bySocket('sockets that say nothing', (socket) => socket.closed(), { init: false, many: held }),
  bySocket(
    'sockets that do not say who asks',
    (socket) => socket.closedBy({ type: 'subscribe', id: '1', payload: one }),
    { init: false },
  ),
  bySocket('a hundred subscriptions on each of many sockets', (socket) =>
    socket.subscribe(subscription, 100),
  ),
  postOf('forged resume tokens', JSON.stringify(forgedToken), { accept: 'text/event-stream' }),
  bySocket('forged resume tokens', (socket) => socket.ask(forgedToken)),
  raw('requests that count as two', 'http', () => [
    typed,
    'content-length: 4',
    'transfer-encoding: chunked',
  ]),
  byHttp('tokens that nobody has', () => ({
    headers: { ...json, authorization: `Bearer unknown-${(tokens += 1)}` },
    body: JSON.stringify(one),
  })),
  byHttp('headers that say that somebody else asks, and no token', () => ({
    headers: { ...json, 'x-remote-user': 'root', 'impersonate-user': 'root' },
    body: JSON.stringify(one),
  })),
  raw('pages of others', 'http', () => [typed, evil, 'content-length: 2'], { body: '{}' }),
  raw('pages of others', 'websocket', () => [...upgrade, evil]),
  byHttp('800 permissions that nobody has asked for before', ({ authorization }) => ({
    headers: { ...json, authorization },
    body: JSON.stringify({
      query: `{ ${Array.from({ length: 800 }, (_, at) => `c${at}: can(verb: "get", resource: "r${(questions += 1)}")`).join(' ')} }`,
    }),
  })),
  {
    ...byHttp('tokens that nobody has, by the hundred', () => ({
      headers: { ...json, authorization: `Bearer unknown-${(tokens += 1)}` },
      body: JSON.stringify(one),
    })),
    lanes: 300,
  },
  {
    title: 'answers that nobody reads',
    transport: 'http',
    lanes: held,
    open: async (target, signal) => async () =>
      unreadUntilCut(target, unread, 'application/json', signal),
  },
  {
    title: 'subscribers that come back and read nothing',
    transport: 'http',
    lanes: held,
    open: async (target, signal) => {
      const variables = { from: await (comingBackFrom ??= tokenBeforeChanges(target, signal)) }
      return async () => unreadUntilCut(target, { ...comeBack, variables }, eventStream, signal)
    },
  },
  bySocket(
    'a hundred subscriptions to logs on each of nine sockets that read nothing',
    (socket) => socket.subscribeUnread(unreadLogs, 100),
    { many: 9 },
  ),
  bySocket(
    'a hundred logs of which no line is sent',
    (socket) => socket.subscribeUnread({ query: `subscription ${filteredLogs}` }, 1),
    { many: 1 },
  ),
  {
    ...postOf('queries of logs without a match', JSON.stringify({ query: filteredLogs })),
    lanes: 3,
  },
  bySocket('one id that is subscribed and completed in a burst', (socket) =>
    socket.subscribeAndComplete(subscription, 100),
  ),
  bySocket('subscriptions that differ in coalesceMs', (socket) =>
    askAll(socket, groupsOfSocket, (number) => ({
      query: 'subscription ($ms: Int) { pods(coalesceMs: $ms) { synced changes { type } } }',
      variables: { ms: number % 60_000 },
    })),
  ),
  bySocket(
    'texts of subscriptions that differ in coalesceMs, over rows that lead to others',
    (socket) =>
      askAll(socket, groupsOfSocket, (number) => ({
        query: `subscription { pods(coalesceMs: ${number % 60_000}) { changes { object { node { metadata { name } } } } } }`,
      })),
  ),
  bySocket('subscriptions of small rows in groups of their own', (socket) =>
    askAll(socket, groupsOfSocket, (number) => ({
      query: `subscription Small${number} { pods { synced changes { type } } }`,
    })),
  ),
  bySocket('subscriptions of json in groups of their own', (socket) =>
    askAll(socket, groupsOfSocket, (number) => ({
      query: `subscription Large${number} { pods { changes { object { json } } } }`,
    })),
  ),
  {
    title: 'an Ingress with 20,000 hosts that changes all the time',
    transport: 'http',
    lanes: 1,
    open: async (target, signal) => {
      // The query makes the gateway cache the kind.
      await post(
        target,
        {
          headers: { ...json, authorization: target.authorization },
          body: '{"query":"{ ingresses { totalCount } }"}',
        },
        signal,
      )
      let turn = 0
      return async () => {
        const { status } = await fetch(
          `${target.cluster}${ingresses}/large?fieldManager=attack&force=true`,
          {
            method: 'PATCH',
            headers: {
              authorization: `Bearer ${gatewayToken}`,
              'content-type': 'application/apply-patch+yaml',
            },
            body: ingressOf((turn += 1) % 2),
            signal,
          },
        )
        return String(status)
      }
    },
  },
  postOf(
    'YAML of nothing but tags, without rights to write',
    JSON.stringify({
      query: applied,
      variables: { it: yaml(`[${'!a b,'.repeat(12_000)}]`) },
    }),
  ),
  postOf(
    'YAML that is long to parse, without rights to write',
    JSON.stringify({
      query: applied,
      variables: { it: longYaml },
    }),
  ),
  mutationOf('a hundred dry runs that each hold a large object', large, (id) => {
    const fields = Array.from(
      { length: 100 },
      (_, at) => `d${at}: delete(id: "${id}", dryRun: true)`,
    )
    return `mutation { ${fields.map((field) => `${field} { changes { before } }`).join(' ')} }`
  }),
  mutationOf('patches of a Secret that the API server refuses and quotes', door, patchOf('MERGE'), {
    patch: { bogus: 1 },
  }),
  mutationOf('patches that copy values of a Secret to where they are seen', door, patchOf('JSON'), {
    patch: [{ op: 'copy', from: '/data/password', path: '/metadata/annotations/shown' }],
  }),
  byHttp('names of operations that no document has', ({ authorization }) => ({
    headers: { ...json, authorization },
    body: JSON.stringify({ ...one, operationName: `${(names += 1)}${'x'.repeat(120_000)}` }),
  })),
  byHttp('documents that nobody has asked before', ({ authorization }) => ({
    headers: { ...json, authorization },
    body: JSON.stringify({ query: newDocument((names += 1)) }),
  })),
]

function newDocument(number: number): string {
  const aliases = Array.from({ length: 450 }, (_, at) => `${'x'.repeat(200)}${number}_${at}: kind`)
  return `{ pods(first: 1) { nodes { ${aliases.join(' ')} } } }`
}

/** Each socket of an attack has so many subscriptions. */
const groupsOfSocket = 26
let groups = 0

/** The code of the first answer that is an error. */
async function askAll(
  socket: AttackSocket,
  times: number,
  payload: (number: number) => object,
): Promise<string> {
  const answers = Array.from({ length: times }, () => socket.ask(payload((groups += 1))))
  const codes = await Promise.all(answers)
  return codes.find((code) => code !== 'ok') ?? 'ok'
}
