import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ExampleProcess, startProgram } from './example-process.ts'

const path = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']

/** The nginx of this machine, if there is one. */
export const nginx: string | undefined = path
  .map((folder) => join(folder, 'nginx'))
  .find((file) => existsSync(file))

/**
 * nginx before the replicas of a gateway, as an ingress with a Service of Kubernetes: new requests and connections go to
 * the replicas that are ready, established ones stay where they are, and nothing is tried twice.
 */
export interface ServiceProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Adds a replica by its port; resolves when it is ready and nginx has been told. */
  readonly add: (port: number) => Promise<void>
}

const probeMs = 50
const readyDeadlineMs = 60_000

/** `first`: the ports of replicas that are ready. */
export async function startServiceProxy(first: readonly number[]): Promise<ServiceProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'informerql-nginx-'))
  const port = await freePort()
  const replicas = new Set(first)
  let ready = first
  const told = (ports: readonly number[]): Promise<void> =>
    writeFile(join(folder, 'replicas.conf'), upstreamOf(ports))
  await told(first)
  await writeFile(join(folder, 'nginx.conf'), configurationOf(port))
  const server: ExampleProcess = startProgram(
    nginx ?? 'nginx',
    ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
    {
      timeout: 180_000,
    },
  )
  await server.printed('start worker process ')
  const stop = new AbortController()
  const probe = async (replica: number): Promise<boolean> => {
    try {
      const { status } = await fetch(`http://127.0.0.1:${replica}/readyz`)
      return status === 200
    } catch {
      return false
    }
  }
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const all = [...replicas]
      const answers = await Promise.all(all.map(probe))
      const now = all.filter((_, at) => answers[at])
      if (now.join() !== ready.join()) {
        await told(now)
        server.signal('SIGHUP')
        ready = now
      }
      await sleep(probeMs)
    }
  }
  const following = follow()
  return {
    url: `http://127.0.0.1:${port}`,
    add: async (replica) => {
      replicas.add(replica)
      const deadline = Date.now() + readyDeadlineMs
      while (!ready.includes(replica)) {
        if (Date.now() > deadline)
          throw new Error(`the replica at ${replica} does not become ready`)
        await sleep(probeMs)
      }
      // The worker that does not know the replica may take a few connections more, and answers 502 if it knows none.
      for (let answered = 0; answered < 10;) {
        const { status } = await fetch(`http://127.0.0.1:${port}/livez`)
        answered = status === 200 ? answered + 1 : 0
        if (Date.now() > deadline) throw new Error('nginx does not take its configuration')
        await sleep(20)
      }
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await following
      // With its workers, those included that wait for their last connections.
      await server.interrupt('SIGTERM')
      await rm(folder, { recursive: true })
    },
  }
}

/** A port of loopback that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function upstreamOf(ports: readonly number[]): string {
  // nginx wants one, and answers 502 while it is down.
  const none = ports.length === 0 ? ['server 127.0.0.1:1 down;'] : []
  const servers = [...none, ...ports.map((port) => `server 127.0.0.1:${port};`)]
  return `upstream replicas { ${servers.join(' ')} keepalive 16; }\n`
}

function configurationOf(port: number): string {
  return `
    daemon off;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    pid nginx.pid;
    error_log stderr notice;
    worker_processes 1;
    events { worker_connections 4096; }
    http {
      access_log off;
      client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
      map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
      include replicas.conf;
      server {
        listen 127.0.0.1:${port} backlog=1024;
        # A worker that is replaced closes the idle connections of its clients, which may just send a request.
        keepalive_timeout 0;
        location / {
          proxy_pass http://replicas;
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $connection_upgrade;
          proxy_read_timeout 1h;
          proxy_buffering off;
          proxy_next_upstream off;
        }
      }
    }`
}
