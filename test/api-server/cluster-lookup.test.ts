import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { ClusterConfigError, type ClusterSelection, loadClusterConfig } from 'informerql/cluster'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Certificate,
  type CertificateAuthority,
  createCertificateAuthority,
} from './certificates.ts'
import { bareEnvironment } from './local-server.ts'

let dir = ''
let authority: CertificateAuthority
const certificates: Record<string, Certificate> = {}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'informerql-kubeconfig-'))
  authority = await createCertificateAuthority()
  certificates['valid'] = await authority.issue({ name: 'valid' })
  certificates['other'] = await authority.issue({ name: 'other' })
  certificates['expired'] = await authority.issue({
    name: 'expired',
    from: new Date('2020-01-01'),
    to: new Date('2021-02-03T04:05:06Z'),
  })
  certificates['future'] = await authority.issue({
    name: 'future',
    from: new Date('2040-01-01'),
    to: new Date('2041-01-01'),
  })
})

afterAll(async () => {
  await rm(dir, { recursive: true, force: true })
  await authority[Symbol.asyncDispose]()
})

const write = async (name: string, content: string): Promise<string> => {
  const file = join(dir, name)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, content)
  return file
}

const kubeconfig = (
  name: string,
  { cluster = {}, user = {}, context = {} }: Readonly<Record<string, object>> = {},
): string =>
  JSON.stringify({
    'current-context': name,
    clusters: [{ name, cluster: { server: `https://${name}.example.com:6443/`, ...cluster } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, ...context } }],
  })

type ClusterConfigEnvironment = NonNullable<Parameters<typeof loadClusterConfig>[1]>

const environment = (
  variables: Readonly<Record<string, string>> = {},
  rest: Partial<ClusterConfigEnvironment> = {},
): ClusterConfigEnvironment => ({ ...bareEnvironment, homeDir: dir, variables, ...rest })

const failure = (selection: ClusterSelection, from = environment()): ClusterConfigError => {
  try {
    loadClusterConfig(selection, from)
  } catch (error) {
    if (error instanceof ClusterConfigError) return error
    throw error
  }
  throw new Error('it should have failed')
}

const serverOf = (selection: ClusterSelection, where: ClusterConfigEnvironment) =>
  loadClusterConfig(selection, where).server

describe('where a cluster is looked for', () => {
  it('takes the given file before KUBECONFIG, and that before ~/.kube/config', async () => {
    const given = await write('given', kubeconfig('given'))
    const listed = await write('listed', kubeconfig('listed'))
    await write('home/.kube/config', kubeconfig('home'))
    const from = environment({ KUBECONFIG: listed }, { homeDir: join(dir, 'home') })
    expect(serverOf({ kubeconfig: given }, from)).toBe('https://given.example.com:6443')
    expect(serverOf({}, from)).toBe('https://listed.example.com:6443')
    const withoutList = { ...from, variables: {} }
    expect(serverOf({}, withoutList)).toBe('https://home.example.com:6443')
  })

  it('merges the files of KUBECONFIG, the first one winning, and passes over missing ones', async () => {
    const first = await write('first', kubeconfig('shared', { context: { namespace: 'one' } }))
    const second = await write(
      'second',
      JSON.stringify({
        ...(JSON.parse(kubeconfig('shared', { context: { namespace: 'two' } })) as object),
        'current-context': 'other',
        users: [{ name: 'extra', user: { token: 't' } }],
      }),
    )
    const third = await write(
      'third',
      JSON.stringify({
        contexts: [{ name: 'mixed', context: { cluster: 'shared', user: 'extra' } }],
      }),
    )
    const list = ['/nonexistent/file', first, second, third].join(delimiter)
    const from = environment({ KUBECONFIG: list })
    expect(loadClusterConfig({}, from)).toMatchObject({ context: 'shared', namespace: 'one' })
    expect(loadClusterConfig({ context: 'mixed' }, from)).toMatchObject({
      server: 'https://shared.example.com:6443',
      user: { name: 'extra', token: 't' },
    })
  })

  it('takes the service account of its pod last', async () => {
    await write('account/token', 'a-token\n')
    await write('account/ca.crt', authority.ca)
    await write('account/namespace', 'team-a\n')
    const from = environment(
      { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' },
      { serviceAccountDir: join(dir, 'account'), homeDir: '/nonexistent' },
    )
    expect(loadClusterConfig({}, from)).toMatchObject({
      source: 'in-cluster',
      server: 'https://[fd00::1]:443',
      namespace: 'team-a',
    })
    // Another server must not see that token.
    const elsewhere = loadClusterConfig({ server: 'https://elsewhere.example.com' }, from)
    expect(elsewhere.user).toEqual({ name: 'anonymous' })
  })

  it('takes a server alone, and puts it in the place of the one of a context', async () => {
    expect(loadClusterConfig({ server: 'http://127.0.0.1:8001/' }, bareEnvironment)).toMatchObject({
      source: '--server',
      server: 'http://127.0.0.1:8001',
    })
    const file = await write('override', kubeconfig('override', { user: { token: 't' } }))
    expect(
      loadClusterConfig(
        { kubeconfig: file, server: 'https://proxy.example.com/k8s/c-1' },
        bareEnvironment,
      ),
    ).toMatchObject({ server: 'https://proxy.example.com/k8s/c-1', user: { token: 't' } })
  })

  it('sends no credentials over plain HTTP, as kubectl does not', async () => {
    const file = await write('plain', kubeconfig('plain', { user: { token: 't', as: 'jane' } }))
    for (const server of ['http://10.0.0.1', 'http://127.0.0.1:8001']) {
      const { user } = loadClusterConfig({ kubeconfig: file, server }, bareEnvironment)
      expect([user.token, user.impersonateUser]).toEqual([undefined, 'jane'])
    }
  })

  it('sends them to a loopback address that the kubeconfig itself names for them', async () => {
    for (const server of ['http://127.0.0.1:8001', 'http://localhost:8001', 'http://[::1]']) {
      const file = await write(
        'loop',
        kubeconfig('l', { cluster: { server }, user: { token: 't' } }),
      )
      expect(loadClusterConfig({ kubeconfig: file }, bareEnvironment).user.token).toBe('t')
    }
    const cluster = { server: 'http://127.0.0.1.example.com' }
    const file = await write('loop', kubeconfig('l', { cluster, user: { token: 't' } }))
    expect(loadClusterConfig({ kubeconfig: file }, bareEnvironment).user.token).toBeUndefined()
  })

  it('says all that it tried when there is none, and never guesses localhost', async () => {
    const error = failure({}, environment({}, { homeDir: '/nowhere' }))
    expect(error.code).toBe('CLUSTER_NOT_FOUND')
    for (const place of ['KUBECONFIG is not set', '/nowhere/.kube/config', 'not in a pod']) {
      expect(error.message).toContain(place)
    }
    const empty = await write('empty', '')
    const listed = failure({}, environment({ KUBECONFIG: ['/missing', empty].join(delimiter) }))
    expect(listed.message).toContain('/missing, which does not exist')
    expect(listed.message).toContain(`${empty}, which is empty`)
    expect(failure({ context: 'prod' }, bareEnvironment).message).toContain('context "prod"')
  })
})

/** A kubeconfig with the certificate of this name, or in this file, and a key. */
const withCertificate = async (name: string, key = name): Promise<ClusterSelection> => ({
  kubeconfig: await write(
    `with-${name.replaceAll('/', '-')}-${key}`,
    kubeconfig('c', {
      cluster: { 'certificate-authority': authority.caFile },
      user: {
        'client-certificate': certificates[name]?.certFile ?? name,
        'client-key-data': Buffer.from(certificates[key]?.key ?? key).toString('base64'),
      },
    }),
  ),
})

/** The superuser reads everything, and is somebody else for this. */
const asNobody = <T>(ask: () => T): T => {
  if (process.geteuid?.() !== 0) return ask()
  process.seteuid?.(65_534)
  try {
    return ask()
  } finally {
    process.seteuid?.(0)
  }
}

describe('what is wrong with a kubeconfig', () => {
  it('names a file that is missing, unreadable, or a folder', async () => {
    expect(failure({ kubeconfig: '/nonexistent/config' })).toMatchObject({
      code: 'KUBECONFIG_MISSING',
    })
    expect(failure({ kubeconfig: dir }).code).toBe('KUBECONFIG_UNREADABLE')
  })

  it('names a file that this user may not read', async () => {
    const file = await write('secret', kubeconfig('secret'))
    await chmod(file, 0)
    await chmod(dir, 0o755)
    const { code, message } = asNobody(() => failure({ kubeconfig: file }))
    expect(code).toBe('KUBECONFIG_UNREADABLE')
    expect(message).toContain(file)
  })

  it('names the line of a mistake in the YAML', async () => {
    const file = await write(
      'broken',
      'clusters:\n- name: a\n  cluster: {server: "https://a"\nusers: [\n',
    )
    const error = failure({ kubeconfig: file })
    expect(error.code).toBe('KUBECONFIG_INVALID')
    expect(error.message).toMatch(/broken: line [34]: /)
  })

  it.each([
    ['a text', 'just a text', 'it is not a mapping'],
    ['clusters that are no list', 'clusters: 3', 'clusters is not a list'],
    ['an entry without a name', 'users: [{user: {}}]', 'users[0] has no name'],
    ['a context that is a text', 'contexts: [{name: a, context: b}]', 'contexts[0].context'],
  ])('says what it is: %s', async (_, text, problem) => {
    const error = failure({ kubeconfig: await write('wrong', text) })
    expect(error.code).toBe('KUBECONFIG_INVALID')
    expect(error.message).toContain(problem)
  })

  it('lists the contexts that there are when one is unknown or none is chosen', async () => {
    const file = await write('known', kubeconfig('known').replace('"current-context":"known",', ''))
    const unknown = failure({ kubeconfig: file, context: 'prod' })
    expect([unknown.code, unknown.value]).toEqual(['CONTEXT_UNKNOWN', 'prod'])
    expect(unknown.message).toContain('there are: known')
    const unset = failure({ kubeconfig: file })
    expect([unset.code, unset.hint]).toEqual(['CONTEXT_UNSET', expect.stringContaining('known')])
  })

  it('names a cluster or a user that is not there, and a server that is no address', async () => {
    const gone = (part: object) => write('gone', kubeconfig('gone', { context: part }))
    expect(failure({ kubeconfig: await gone({ cluster: 'x' }) })).toMatchObject({
      code: 'CLUSTER_UNKNOWN',
      value: 'x',
    })
    expect(failure({ kubeconfig: await gone({ user: 'y' }) })).toMatchObject({
      code: 'USER_UNKNOWN',
      value: 'y',
    })
    for (const server of ['', 'localhost:6443', 'ftp://a']) {
      const file = await write('address', kubeconfig('address', { cluster: { server } }))
      expect(failure({ kubeconfig: file }).code).toBe('SERVER_INVALID')
    }
    const proxied = await write(
      'proxied',
      kubeconfig('p', { cluster: { 'proxy-url': 'proxy:80' } }),
    )
    expect(failure({ kubeconfig: proxied }).code).toBe('PROXY_INVALID')
  })

  it('accepts a client certificate in its time, and names the dates of others', async () => {
    expect(loadClusterConfig(await withCertificate('valid'), bareEnvironment).context).toBe('c')
    const expired = failure(await withCertificate('expired'))
    expect(expired.code).toBe('CLIENT_CERTIFICATE_EXPIRED')
    expect(expired.message).toContain('2021-02-03T04:05:06.000Z')
    const future = failure(await withCertificate('future'))
    expect(future.code).toBe('CLIENT_CERTIFICATE_NOT_YET_VALID')
    expect(future.message).toContain('2040-01-01')
  })

  it('names a file of a certificate that cannot be read, is none, or has another key', async () => {
    const missing = failure(await withCertificate('certs/missing.crt', 'valid'))
    expect(missing.code).toBe('CREDENTIAL_FILE_UNREADABLE')
    // Relative to the kubeconfig, not to where the process was started.
    expect(missing.message).toContain(join(dir, 'certs/missing.crt'))
    expect(failure(await withCertificate('valid', 'other')).code).toBe('CERTIFICATE_INVALID')
    const text = await write('text.crt', 'not a certificate')
    expect(failure(await withCertificate(text, 'valid')).code).toBe('CERTIFICATE_INVALID')
  })
})
