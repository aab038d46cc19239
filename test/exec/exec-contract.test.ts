import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { ControlPlane } from '../support/control-plane.ts'
import { findControlPlane } from '../support/control-plane.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { serveGateway } from '../support/gateway.ts'
import { openShop, shopRules, type ShopUser, tokenOf } from './guarded-shop.ts'
import { openShell, type ShellClient, type ShellStart } from './shell-client.ts'

/** A gateway, and the API server behind it, with a pod `web` that runs in the namespace `shop`. */
interface ExecServers extends AsyncDisposable {
  /** Of the gateway's GraphQL. */
  readonly gateway: string
  readonly apiServer: string
  readonly ca?: string
}

/** The status and the text with which the API server itself refuses a WebSocket. */
async function refusal({ apiServer, ca }: ExecServers, user: ShopUser, query: string) {
  const url = `${apiServer}/api/v1/namespaces/shop/pods/web/exec?${query}`
  const options = { headers: { authorization: tokenOf(user) }, ...(ca !== undefined && { ca }) }
  const socket = new WebSocket(url, ['v5.channel.k8s.io'], options)
  socket.on('error', () => {})
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { readonly statusCode: number },
  ]
  let text = ''
  for await (const part of response) text += part.toString()
  socket.terminate()
  return { status: response.statusCode, text }
}

function execContract(servers: () => ExecServers): void {
  const clients: ShellClient[] = []
  afterAll(() => {
    for (const client of clients) client[Symbol.dispose]()
  })
  const open = async (start: ShellStart = {}, user: ShopUser = 'ann'): Promise<ShellClient> => {
    const given = { authorization: tokenOf(user), ...start }
    const client = await openShell(servers().gateway, given)
    clients.push(client)
    return client
  }

  it('the streams are apart, and the exit code comes last', async () => {
    const shell = await open({ tty: false, command: ['sh', '-c', 'echo out; cat /absent'] })
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 1 })
    expect(shell.output).toBe('out\n')
    expect(shell.errors).toMatch(/\/absent'?: No such file or directory\n$/)
  })

  it('an exit without a problem is 0', async () => {
    const shell = await open({ tty: false, command: ['true'] })
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 0 })
  })

  it('the input is read to its end', async () => {
    const shell = await open({ tty: false, command: ['cat'] })
    await shell.opened()
    shell.type('one\n')
    await shell.printed('one\n')
    shell.type('two\n')
    shell.endInput()
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 0 })
    expect(shell.output).toBe('one\ntwo\n')
  })

  it('a terminal has the size of its window, echoes and is interrupted', async () => {
    const shell = await open({ columns: 100, rows: 30 })
    await shell.printed('# ')
    shell.type('stty size\r')
    await shell.printed('30 100\r\n')
    shell.resize(81, 25)
    await expect
      .poll(async () => {
        shell.type('stty size\r')
        await sleep(100)
        return shell.output
      })
      .toContain('25 81\r\n')
    shell.type('sleep 1000\r')
    await shell.printed('sleep 1000\r\n')
    await sleep(200)
    shell.type('\u0003')
    // What is echoed is not what is printed.
    shell.type('echo o""n\r')
    await shell.printed('on\r\n')
    shell.type('exit 7\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 7 })
  })

  it.each([
    ['a program that is not there', { command: ['absent-program'] }, 'FAILED'],
    ['a pod that is not there', { pod: 'absent' }, 'NOT_FOUND'],
    ['a container that is not there', { container: 'absent' }, 'BAD_USER_INPUT'],
  ])('%s', async (_, start, code) => {
    const shell = await open(start)
    expect(await shell.ended()).toMatchObject({ code })
  })

  it('the right to get is not enough, at the gateway and at the API server', async () => {
    const shell = await open({}, 'getter')
    expect(await shell.ended()).toMatchObject({ code: 'FORBIDDEN' })
    for (const user of ['getter', 'reader'] as const) {
      const { status, text } = await refusal(servers(), user, 'command=sh&stdout=true')
      expect(status).toBe(403)
      const { message } = JSON.parse(text) as { readonly message: string }
      const why = 'User "reader" cannot get resource "pods/exec"'
      expect(message).toContain(`pods "web" is forbidden: ${user === 'reader' ? why : ''}`)
    }
  })

  it('a debug container is added to the pod, and runs the command', async () => {
    const shell = await open({ container: 'app', debug: { image: 'busybox:1.37' } })
    await shell.printed('# ')
    expect(shell.container).toMatch(/^debugger-/)
    shell.type('exit\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED' })
    // Without a name, the container of the pod is meant all the same.
    const own = await open({ tty: false, command: ['echo', 'own'] })
    expect(await own.ended()).toMatchObject({ code: 'EXITED', exitCode: 0 })
    expect([own.container, own.output]).toEqual(['', 'own\n'])
    const both = await refusal(servers(), 'ann', 'command=sh&stdout=true&container=absent')
    expect(both.text).toContain('container absent is not valid for pod web')
  })
}

describe('exec through the gateway, on the simulator', () => {
  let shop: ExecServers | undefined
  beforeAll(async () => {
    const opened = await openShop()
    shop = {
      gateway: opened.url,
      apiServer: opened.simulator.url,
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  })
  afterAll(() => shop?.[Symbol.asyncDispose]())
  execContract(() => {
    if (shop === undefined) throw new Error('the shop is opened first')
    return shop
  })
})

/** Opens the shop on a genuine API server, whose node is a process that serves exec as a kubelet does. */
async function openGenuineShop(plane: ControlPlane): Promise<ExecServers> {
  await using stack = new AsyncDisposableStack()
  const found = findControlPlane({ execKubelet: true })
  const kubelet = spawn(join('binDir' in found ? found.binDir : '', 'exec-kubelet'), {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  stack.defer(() => void kubelet.kill())
  const [printed] = (await once(kubelet.stdout, 'data')) as [Buffer]
  const send = async (path: string, body: object, method: 'POST' | 'PATCH' = 'POST') => {
    const isPatch = method === 'PATCH' && { contentType: 'application/merge-patch+json' }
    const answer = await plane.request(path, { method, body, ...isPatch })
    if (answer.status >= 300) throw new Error(answer.text)
  }
  await send('/api/v1/namespaces', { metadata: { name: 'shop' } })
  await send('/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'default' } })
  await send('/api/v1/nodes', { metadata: { name: 'up' } })
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
  const daemonEndpoints = { kubeletEndpoint: { Port: Number(printed.toString()) } }
  await send('/api/v1/nodes/up/status', { status: { addresses, daemonEndpoints } }, 'PATCH')
  const pods = '/api/v1/namespaces/shop/pods'
  const containers = [{ name: 'app', image: 'app:1' }]
  const spec = { nodeName: 'up', containers, automountServiceAccountToken: false }
  await send(pods, { metadata: { name: 'web' }, spec })
  const state = { running: { startedAt: new Date().toISOString() } }
  const runs = (name: string): object => ({
    name,
    image: 'app:1',
    imageID: '',
    ready: true,
    restartCount: 0,
    state,
    containerID: `x://${name}`,
  })
  const running = { phase: 'Running', containerStatuses: [runs('app')] }
  await send(`${pods}/web/status`, { status: running }, 'PATCH')
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  for (const [user, rules] of Object.entries(shopRules)) {
    await send(`${rbac}/clusterroles`, { metadata: { name: user }, rules })
    await send(`${rbac}/clusterrolebindings`, {
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    })
  }
  // What a kubelet does with debug containers.
  const stop = new AbortController()
  const starting = (async () => {
    while (!stop.signal.aborted) {
      const { text } = await plane.request(`${pods}/web`)
      const { ephemeralContainers = [] } = (
        JSON.parse(text) as { spec: { ephemeralContainers?: readonly { name: string }[] } }
      ).spec
      const ephemeralContainerStatuses = ephemeralContainers.map(({ name }) => runs(name))
      if (ephemeralContainers.length > 0)
        await send(`${pods}/web/status`, { status: { ephemeralContainerStatuses } }, 'PATCH')
      await sleep(200)
    }
  })()
  stack.defer(async () => {
    stop.abort()
    await starting
  })
  const gateway = stack.use(
    await serveGateway(
      { clusters: [{ name: 'one', kubeconfig: plane.kubeconfigPath }] },
      {},
      { auth: { mode: 'token-review' }, exec: {} },
    ),
  )
  const all = stack.move()
  return {
    gateway: gateway.url,
    apiServer: plane.url,
    ca: plane.ca,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const users = Object.keys(shopRules) as ShopUser[]
describeWithControlPlane(
  'exec through the gateway',
  (plane) => {
    let shop: ExecServers | undefined
    beforeAll(async () => {
      shop = await openGenuineShop(plane())
    }, 120_000)
    afterAll(() => shop?.[Symbol.asyncDispose]())
    execContract(() => {
      if (shop === undefined) throw new Error('the shop is opened first')
      return shop
    })
  },
  {
    execKubelet: true,
    tokens: users.map((user) => ({ token: `of-${user}`, user, uid: user, groups: ['users'] })),
  },
)
