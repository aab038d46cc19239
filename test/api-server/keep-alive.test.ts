import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createApiServer, loadClusterConfig } from 'informerql/cluster'
import { describe, expect, it } from 'vitest'
import { createCertificateAuthority } from './certificates.ts'
import { bareEnvironment, connectTo, neverAborted, pods, startLocalServer } from './local-server.ts'

/**
 * In how many milliseconds the kernel will ask whether the peer of each connection to this port is still there, from
 * Linux's table of connections; `undefined` where it never will.
 */
const keepAliveTimers = async (port: number): Promise<readonly (number | undefined)[]> => {
  const peer = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = (await readFile('/proc/net/tcp', 'utf8'))
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  return rows
    .filter(([, , remote, state]) => remote === peer && state === '01')
    .map(([, , , , , timer = '']) => {
      const [kind, jiffies = '0'] = timer.split(':')
      return kind === '02' ? Number.parseInt(jiffies, 16) * 10 : undefined
    })
}

const beginWatch = (_: unknown, response: { write: (text: string) => unknown }): void => {
  response.write('{"a":1}\n')
}

describe.skipIf(process.platform !== 'linux')('a watch whose peer is gone (Linux only)', () => {
  it('is noticed by the kernel, which asks after the configured silence', async () => {
    await using server = await startLocalServer(beginWatch)
    await using api = connectTo(server.url, { tcpKeepAliveMs: 20_000 })
    await api.resource(pods).watch({}, neverAborted())
    const [timerMs] = await keepAliveTimers(server.port)
    expect(timerMs).toBeLessThanOrEqual(20_000)
    expect(timerMs).toBeGreaterThan(10_000)
  })

  it('is noticed over TLS as well', async () => {
    await using authority = await createCertificateAuthority()
    const { cert, key } = await authority.issue({ name: 'server' })
    await using server = await startLocalServer(beginWatch, { cert, key })
    const kubeconfig = join(authority.dir, 'config')
    await writeFile(
      kubeconfig,
      JSON.stringify({
        'current-context': 'c',
        clusters: [
          { name: 'c', cluster: { server: server.url, 'certificate-authority': 'ca.crt' } },
        ],
        contexts: [{ name: 'c', context: { cluster: 'c' } }],
      }),
    )
    const config = loadClusterConfig({ kubeconfig }, bareEnvironment)
    await using api = createApiServer({ name: 'c', config, tcpKeepAliveMs: 20_000 })
    await api.resource(pods).watch({}, neverAborted())
    const [timerMs] = await keepAliveTimers(server.port)
    expect(timerMs).toBeLessThanOrEqual(20_000)
    expect(timerMs).toBeGreaterThan(10_000)
  })
})
