import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCertificateAuthority } from '../api-server/certificates.ts'
import { type AssembledImage, assembleImage } from './assembled-image.ts'
import { contain, type Contained, notContainable } from './container.ts'
import { isInContext, lastOf, readDockerfile } from './dockerfile.ts'

const stages = readDockerfile('Dockerfile')
const instructions = stages.flatMap((stage) => stage.instructions)

describe('The Dockerfile', () => {
  it('copies only what .dockerignore leaves in the context, or what another stage has', () => {
    const copies = instructions
      .filter(({ name }) => name === 'COPY')
      .map(({ text }) => text.split(/\s+/).slice(0, -1))
    const [fromStages, fromContext] = [true, false].map((isFromStage) =>
      copies.filter(([first = '']) => first.startsWith('--from=') === isFromStage),
    )
    const names = stages.map(({ name }) => name)
    for (const [first = ''] of fromStages ?? []) expect(names).toContain(first.slice(7))
    expect((fromContext ?? []).flat().filter((path) => !isInContext(path))).toEqual([])
  })

  it('makes an image that is run by a user with a number, who is not root', () => {
    const last = stages.at(-1)
    expect(last === undefined ? '' : lastOf(last, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })

  it('is given no secrets, and fetches nothing but packages of the lock file', () => {
    for (const { base } of stages) expect(base).toMatch(/^node:\d+-/)
    const textsOf = (wanted: string): readonly string[] =>
      instructions.filter(({ name }) => name === wanted).map(({ text }) => text)
    expect([...textsOf('ADD'), ...textsOf('ARG')]).toEqual([])
    expect(textsOf('ENV')).toEqual(['NODE_ENV=production'])
    for (const command of textsOf('RUN')) expect(command).toMatch(/^npm (ci|run build)\b/)
  })
})

/** A port that is free now. */
const freePort = async (): Promise<string> => {
  await using simulator = await startSimulator({})
  return new URL(simulator.url).port
}

const why = notContainable === undefined ? '' : `: skipped, ${notContainable}`

describe.skipIf(notContainable !== undefined)(`What the image holds${why}`, () => {
  let image: AssembledImage
  let simulator: Simulator
  let config: string
  beforeAll(async () => {
    image = await assembleImage()
    simulator = await startSimulator({})
    config = await mkdtemp(join(tmpdir(), 'informerql-image-config-'))
    await chmod(config, 0o755)
  }, 240_000)
  afterAll(async () => {
    await image[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
    await rm(config, { recursive: true })
  })

  const start = (user: string, port: string, flags: readonly string[] = []): Contained =>
    contain({ ...image, user }, config, [
      ...image.entrypoint,
      'serve',
      '--server',
      simulator.url,
      '--port',
      port,
      ...flags,
    ])
  /** The exit code of the image's HEALTHCHECK. */
  const health = async (port: string): Promise<number | null> => {
    const variables = ['env', `INFORMERQL_SERVER_PORT=${port}`]
    await using check = contain(image, config, [...variables, ...image.healthCheck])
    // Before it is disposed of.
    const code = await check.ended
    return code
  }

  it('is what runs, without the tools that made it', async () => {
    const modules = await readdir(join(image.dir, 'node_modules'))
    expect(modules).toContain('graphql')
    expect(await readdir(join(image.dir, 'dist', 'portal'))).toContain('index.html')
    for (const tool of ['typescript', 'vitest', 'vite', 'oxlint', 'react']) {
      expect(modules).not.toContain(tool)
    }
    expect((await readdir(image.dir)).toSorted()).toEqual([
      'LICENSE',
      'NOTICE',
      'dist',
      'node_modules',
      'package.json',
      'packages',
      'schema',
    ])
  })

  const own = stages.at(-1)
  it.each([own === undefined ? '' : (lastOf(own, 'USER') ?? ''), '65532:65532'])(
    'answers as user %s, where nothing can be written',
    async (user) => {
      const port = await freePort()
      await using gateway = start(user, port)
      const [, url = ''] = await gateway.printed(/answers at (\S+)/)
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ namespaces { totalCount } }' }),
      })
      expect(await response.json()).toMatchObject({ data: { namespaces: { totalCount: 4 } } })
      expect((await fetch(new URL('/', url))).status).toBe(200)
      expect(await health(port)).toBe(0)
      gateway.stop()
      expect(await gateway.ended).toBe(0)
      expect(await health(port)).toBe(1)
    },
    60_000,
  )

  it('is healthy where it serves by TLS, and asks for certificates of clients', async () => {
    await using authority = await createCertificateAuthority()
    const { cert, key } = await authority.issue({ name: 'gateway', hosts: ['gateway.example'] })
    await writeFile(join(config, 'tls.crt'), cert)
    await writeFile(join(config, 'tls.key'), key, { mode: 0o644 })
    await writeFile(join(config, 'ca.crt'), await readFile(authority.caFile))
    const port = await freePort()
    const place = '/etc/informerql'
    await using gateway = start(image.user, port, [
      `--tls-cert=${place}/tls.crt`,
      `--tls-key=${place}/tls.key`,
      `--tls-client-ca=${place}/ca.crt`,
      '--auth=request-header',
    ])
    await gateway.printed(/answers at https/)
    expect(await health(port)).toBe(0)
  })

  it('can write nothing, and holds no capability', async () => {
    const program = `
      const { writeFileSync, readFileSync } = require('node:fs')
      for (const path of ['/app/x', '/tmp/x', '/x', '/etc/informerql/x', '/dev/x', '/usr/x']) {
        try { writeFileSync(path, ''); console.log('wrote', path) } catch (error) { if (error.code !== 'EROFS' && error.code !== 'EACCES') throw error }
      }
      console.log(readFileSync('/proc/self/status', 'utf8'))
      console.log('end')`
    await using process = contain(image, config, ['node', '-e', program])
    const [said] = await process.printed(/[^]*end\n/)
    expect(said).not.toContain('wrote')
    expect(said).toMatch(/CapEff:\t0+\nCapBnd:\t0+\n/)
    expect(said).toMatch(/NoNewPrivs:\t1/)
  })
})
