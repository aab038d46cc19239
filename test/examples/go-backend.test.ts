import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startSimulator } from 'informerql/simulator'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { startProgram } from '../support/example-process.ts'
import { serveGateway } from '../support/gateway.ts'

const run = promisify(execFile)
const whole = { maxBuffer: 64 << 20, timeout: 240_000 }

/** Why the example cannot be built here; `''` if it can. Its modules come from Go's module cache or its proxy. */
const why = await run('go', ['mod', 'download'], { ...whole, cwd: 'examples/go-backend' }).then(
  () => '',
  ({ code, message }: NodeJS.ErrnoException) =>
    code === 'ENOENT' ? ' (there is no Go here)' : ` (Go's modules cannot be had: ${message})`,
)

const pods = '/api/v1/namespaces/shop/pods'
const spec = {
  containers: [{ name: 'app', image: 'example/app', resources: { requests: { cpu: '250m' } } }],
}

describe.skipIf(why !== '')(`examples/go-backend${why}`, () => {
  let program = ''

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-go-'))
    program = join(folder, 'backend')
    await cp('examples/go-backend', folder, { recursive: true })
    const { stdout } = await run(process.execPath, ['src/main.ts', 'schema'], whole)
    await writeFile(join(folder, 'schema.graphql'), stdout)
    await run('go', ['tool', 'genqlient'], { ...whole, cwd: folder })
    await run('go', ['vet', './...'], { ...whole, cwd: folder })
    await run('go', ['build', '-o', program, '.'], { ...whole, cwd: folder })
    return () => rm(folder, { recursive: true })
  }, 300_000)

  it('is generated from the printed schema, asks once, then follows changes, also over connections that are cut', async () => {
    await using simulator = await startSimulator()
    await created(simulator, '/api/v1/namespaces', { metadata: { name: 'shop' } })
    await created(simulator, pods, { metadata: { name: 'one' }, spec })
    await using gateway = await serveGateway({
      clusters: [{ name: 'only', server: simulator.url }],
    })
    await using proxy = await startCutProxy(Number(new URL(gateway.url).port))
    const url = `http://127.0.0.1:${proxy.port}/graphql`
    const backend = startProgram(program, ['-gateway', url, '-namespace', 'shop'], {})
    onTestFinished(() => backend[Symbol.asyncDispose]())
    await backend.printed('1 pods in shop')
    await backend.printed('[cpu=250m]')
    await backend.printed('following 1 pods')
    await created(simulator, pods, { metadata: { name: 'two' }, spec })
    await backend.printed('~ two')
    proxy.cut()
    await backend.printed('the subscription has ended')
    await backend.printed('following 2 pods')
    await sent(simulator, 'DELETE', `${pods}/two?gracePeriodSeconds=0`)
    await backend.printed('- two')
    expect(await backend.interrupt(), backend.lines.join('\n')).toBe(0)
  })

  it('says why it has no pods', async () => {
    await using simulator = await startSimulator()
    await using proxy = await startCutProxy(Number(new URL(simulator.url).port))
    await using gateway = await serveGateway({
      clusters: [{ name: 'only', server: `http://127.0.0.1:${proxy.port}` }],
    })
    await proxy.refuse()
    const backend = startProgram(program, ['-gateway', gateway.url], {})
    onTestFinished(() => backend[Symbol.asyncDispose]())
    expect(await backend.ended).toBe(1)
    expect(backend.lines.join('\n')).toMatch(/the pods of default cannot be read: .*only/)
  })
})
