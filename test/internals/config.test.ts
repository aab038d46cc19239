// Imports internals: a process for each of some 60 configurations would take minutes.
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  type Config,
  ConfigError,
  type ConfigSources,
  loadConfig,
} from '../../src/config/config.ts'
import { archiveOptionsOf, gatewayOptionsOf } from '../../src/config/gateway-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'informerql-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function file(text: string): string {
  const path = join(folder, `${(files += 1)}.yaml`)
  writeFileSync(path, text)
  return path
}

const load = (sources: Partial<ConfigSources>): Config =>
  loadConfig({ variables: {}, flags: [], ...sources })

/** The lines of the error that a configuration is refused with. */
function problemsOf(sources: Partial<ConfigSources>): readonly string[] {
  try {
    load(sources)
  } catch (error) {
    if (error instanceof Error) return error.message.split('\n')
  }
  return []
}

describe('a configuration', () => {
  it('is whole without anything given: loopback, and the cluster that kubectl would find', () => {
    expect(load({})).toMatchObject({
      server: { host: '127.0.0.1', port: 4000, insecureNoAuth: false, maxBodyBytes: 131_072 },
      clusters: [{ name: 'default' }],
      maxPageSize: 500,
      preload: [],
      logLevel: 'info',
    })
  })

  it('has the defaults that deploy/informerql.yaml writes down', () => {
    expect(load({ file: 'deploy/informerql.yaml' })).toEqual(load({}))
  })

  it('takes flags over variables over the file over defaults', () => {
    const path = file(
      'server:\n  port: 1\n  maxBodyBytes: 2048\n  keepAliveMs: 7\nlogLevel: warn\n',
    )
    const config = load({
      file: path,
      variables: { INFORMERQL_SERVER_PORT: '2', INFORMERQL_SERVER_MAX_BODY_BYTES: '4096' },
      flags: [{ place: '--port', path: ['server', 'port'], value: 3 }],
    })
    expect(config.server).toMatchObject({ port: 3, maxBodyBytes: 4096, keepAliveMs: 7 })
    expect(config.logLevel).toBe('warn')
  })

  it('finds its file by a variable, too', () => {
    const path = file('maxPageSize: 7')
    expect(load({ variables: { INFORMERQL_CONFIG: path } }).maxPageSize).toBe(7)
  })

  it('names clusters by their context, and finds files from where it is itself', () => {
    const path = file(
      'clusters:\n  - context: prod\n    kubeconfig: kube/config\n  - name: lab\n    server: https://lab:6443\nschemaFiles: [a.graphql]\n',
    )
    const config = load({ file: path })
    expect(config.clusters).toEqual([
      { name: 'prod', context: 'prod', kubeconfig: join(folder, 'kube/config') },
      { name: 'lab', server: 'https://lab:6443' },
    ])
    expect(config.schemaFiles).toEqual([join(folder, 'a.graphql')])
  })

  it('finds the audit log from where it is itself, too, unless that is the standard output', () => {
    const auditOf = (text: string): string | undefined => load({ file: file(text) }).audit.file
    expect(auditOf('audit: { file: log/audit.json }')).toBe(join(folder, 'log/audit.json'))
    expect(auditOf('audit: { file: /var/log/audit.json }')).toBe('/var/log/audit.json')
    expect(auditOf('audit: { file: "-" }')).toBe('-')
    const flag = { place: '--audit-file', path: ['audit', 'file'], value: 'audit.json' }
    expect(load({ flags: [flag] }).audit.file).toBe('audit.json')
  })

  it('keeps no archive unless one is named, and finds its file from where it is itself', () => {
    expect(archiveOptionsOf(load({}).archive)).toBeUndefined()
    const path = file('archive:\n  url: file:kept/past.db\n  keep: 7d\n  maxBytes: 512Mi\n')
    expect(archiveOptionsOf(load({ file: path }).archive)).toEqual({
      url: `file:${join(folder, 'kept/past.db')}`,
      keepMs: 7 * 86_400_000,
      maxBytes: 512 << 20,
      masked: [],
      required: false,
    })
    const url = 'postgres://user@database/past'
    expect(load({ file: file(`archive: { url: "${url}" }`) }).archive.url).toBe(url)
    const none = load({ file: path, variables: { INFORMERQL_ARCHIVE_URL: 'none' } })
    expect(archiveOptionsOf(none.archive)).toBeUndefined()
  })

  it('finds a scenario from where it is itself', () => {
    const path = file('simulator: { scenario: shop }')
    expect(load({ file: path }).simulator.scenario).toBe(join(folder, 'shop'))
  })

  it('reads lists and numbers from variables, and leaves text as it is', () => {
    const { preload, simulator, clusters } = load({
      variables: {
        INFORMERQL_PRELOAD: 'pods, nodes',
        INFORMERQL_SIMULATOR_SEED: '42',
        INFORMERQL_SIMULATOR_EVENTS_PER_SECOND: '0.5',
        INFORMERQL_CLUSTERS: '[{ context: prod }]',
      },
    })
    expect(preload).toEqual(['pods', 'nodes'])
    expect(simulator).toMatchObject({ seed: '42', eventsPerSecond: 0.5 })
    expect(clusters).toEqual([{ name: 'prod', context: 'prod' }])
  })

  it('takes times and sizes as people write them, wherever they are given', () => {
    const path = file(
      `cache: { maxHeldBytes: 2Gi, idleStopMs: 30m }
live: { maxHeldBytes: 500Mi, maxHeldBytesPerUser: 1.5G, coalesceMs: 0.25s }
server: { drainDelayMs: 5s, maxUnsentBytes: 1e8, keepAliveMs: 7 }
operationDeadlineMs: 1m30s
auth: { mode: oidc-login, login: { clientId: a, sessionMaxMs: 1d12h } }
clusters: [{ name: a, labels: { timeMs: 30m } }]
`,
    )
    const config = load({
      file: path,
      variables: {
        INFORMERQL_SERVER_PING_INTERVAL_MS: '1h',
        INFORMERQL_LOGS_MAX_HELD_BYTES: '64Ki',
      },
      flags: [{ place: '--drain-spread', path: ['server', 'drainSpreadMs'], value: '0s' }],
    })
    expect(config.cache).toMatchObject({ maxHeldBytes: 2 ** 31, idleStopMs: 1_800_000 })
    expect(config.live).toMatchObject({
      maxHeldBytes: 524_288_000,
      maxHeldBytesPerUser: 1_500_000_000,
      coalesceMs: 250,
    })
    expect(config.server).toMatchObject({
      drainDelayMs: 5_000,
      drainSpreadMs: 0,
      maxUnsentBytes: 100_000_000,
      keepAliveMs: 7,
      pingIntervalMs: 3_600_000,
    })
    expect(config.logs.maxHeldBytes).toBe(65_536)
    expect(config.operationDeadlineMs).toBe(90_000)
    expect(config.auth.login?.sessionMaxMs).toBe(129_600_000)
    expect(config.clusters[0]?.labels).toEqual({ timeMs: '30m' })
  })

  it('bounds subscriptions by the file, by variables, and by what createGateway takes of them', () => {
    const path = file('live:\n  maxFrames: 16\n  coalesceMs: 250\n')
    const config = load({
      file: path,
      variables: { INFORMERQL_LIVE_MAX_BYTES: '1048576', INFORMERQL_LIVE_MAX_FRAME_OBJECTS: '50' },
    })
    const { live, limits } = gatewayOptionsOf(config)
    expect(live).toEqual({
      maxFrames: 16,
      maxBytes: 1_048_576,
      maxHeldBytes: expect.any(Number),
      maxHeldBytesPerUser: expect.any(Number),
    })
    expect(limits).toMatchObject({ coalesceMs: 250, maxFrameObjects: 50, maxFrameBytes: 1_048_576 })
    const wrong = file('live:\n  maxFrames: 0\n  maxByte: 1\n')
    expect(problemsOf({ file: wrong })).toEqual([
      expect.stringContaining(`${wrong}:2: live.maxFrames = 0: Too small`),
      expect.stringContaining('live.maxByte: there is no such option; known here: coalesceMs'),
    ])
  })

  it('signs browsers in as docs/sign-in.md shows it', () => {
    const [, text = ''] = /```yaml\n(.*?)```/s.exec(readFileSync('docs/sign-in.md', 'utf8')) ?? []
    const { auth, server } = load({ file: file(text) })
    expect(auth).toMatchObject({
      mode: 'oidc-login',
      oidc: { usernameClaim: 'email' },
      login: { clientId: 'informerql', clientSecretFile: '/secrets/client-secret', required: true },
    })
    expect(server.publicUrl).toBe('https://portal.example.com')
  })

  it('wants the address that browsers see, where they sign in beyond loopback', () => {
    const text = 'server: { host: 0.0.0.0 }\nauth: { mode: oidc-login }\n'
    expect(problemsOf({ file: file(text) })).toEqual([
      expect.stringContaining('server.publicUrl: auth.mode oidc-login needs the address'),
    ])
    const seen = 'server: { host: 0.0.0.0, publicUrl: "http://portal.example.com/ui" }\n'
    expect(problemsOf({ file: file(seen) })).toEqual([
      expect.stringContaining('expected https://HOST, without a path'),
    ])
  })

  it('passes over the variables that Kubernetes makes of a Service of the same name', () => {
    const variables = {
      INFORMERQL_PORT: 'tcp://10.0.0.1:4000',
      INFORMERQL_SERVER_PORT: 'tcp://10.0.0.1:4000',
      INFORMERQL_PORT_4000_TCP_ADDR: '10.0.0.1',
      INFORMERQL_SERVICE_HOST: '10.0.0.1',
      INFORMERQL_SERVICE_PORT_HTTP: '4000',
    }
    expect(load({ variables }).server.port).toBe(4000)
  })
})

describe('a configuration that cannot be used is refused, and', () => {
  it('every wrong option is named with its line, its value and what is expected', () => {
    const path = file(
      [
        'maxPageSize: lots',
        'server:',
        '  port: 70000',
        '  prot: 1',
        '  allowedOrigins:',
        '    - https://fine.example',
        '    - https://portal.example/path',
        'clusters:',
        '  - context: a',
        '    kubecfg: x',
        'colour: red',
      ].join('\n'),
    )
    expect(() => load({ file: path })).toThrow(ConfigError)
    const problems = problemsOf({ file: path })
    const expected = [
      `${path}:1: maxPageSize = "lots": expected number`,
      `${path}:3: server.port = 70000: Too big`,
      `${path}:4: server.prot: there is no such option; known here: host, port`,
      `${path}:7: server.allowedOrigins[1] = "https://portal.example/path": expected an origin`,
      `${path}:10: clusters[0].kubecfg: there is no such option`,
      `${path}:11: colour: there is no such option; known here: clusters`,
    ]
    expect(problems).toHaveLength(expected.length)
    for (const start of expected) {
      expect(problems).toContainEqual(expect.stringContaining(start) as string)
    }
  })

  it('a file that is not YAML is told by its line', () => {
    expect(problemsOf({ file: file('server:\n  port: 1\n\tx: 1') })[0]).toMatch(/\.yaml:3: /)
    expect(problemsOf({ file: file('a: 1\nb: 2\na: 3') })[0]).toMatch(/\.yaml:3: .*unique/)
    expect(problemsOf({ file: file('- a') })[0]).toMatch(/\.yaml:1: expected a mapping/)
  })

  it('a file that is not there is told by its name', () => {
    expect(problemsOf({ file: '/nowhere/informerql.yaml' })[0]).toContain(
      '/nowhere/informerql.yaml',
    )
  })

  it('variables and flags are told by their names', () => {
    const problems = problemsOf({
      variables: { INFORMERQL_WORK_EXAMINED: 'all', INFORMERQL_TYPO: '1' },
      flags: [{ place: '--port', path: ['server', 'port'], value: 'abc' }],
    })
    expect(problems).toEqual([
      'INFORMERQL_TYPO: there is no such option',
      expect.stringContaining(
        'INFORMERQL_WORK_EXAMINED: work.examined = "all": expected number',
      ) as string,
      expect.stringContaining('--port: server.port = "abc": expected number') as string,
    ])
  })

  it('a time or a size in no known unit is told how to write it', () => {
    const flag = { place: '--drain-delay', path: ['server', 'drainDelayMs'], value: '2 sec' }
    expect(problemsOf({ flags: [flag] })[0]).toMatch(
      /= "2 sec": expected number.* of milliseconds, or a duration such as 30s, 5m or 1h30m$/,
    )
    const variables = { INFORMERQL_CACHE_MAX_HELD_BYTES: '2GB' }
    expect(problemsOf({ variables })[0]).toMatch(/of bytes, or a size such as 500Mi or 2Gi$/)
    const part = { INFORMERQL_LIVE_MAX_BYTES: '100000500m' }
    expect(problemsOf({ variables: part })[0]).toContain('"100000500m": expected int')
  })

  it('so is an address that has no scheme', () => {
    const texts = ['publicUrl: portal.example.com', 'publicUrl: "https:"', 'publicUrl: ""']
    for (const text of texts) {
      const path = file(`server: { ${text} }`)
      expect(problemsOf({ file: path })).toEqual([
        expect.stringMatching(
          /:1: server\.publicUrl = ".*": expected https:\/\/HOST, without a path$/,
        ),
      ])
    }
    const issuer = file('auth: { oidc: { issuer: id.example.com } }')
    expect(problemsOf({ file: issuer })).toEqual([
      expect.stringContaining('auth.oidc.issuer = "id.example.com": Invalid URL'),
    ])
  })

  it('so is a cluster that an option of auth names and clusters has not, with the nearest one', () => {
    const clusters = 'clusters: [{ name: prod }, { name: lab }]\n'
    const path = file(
      `${clusters}auth: { cluster: pord, tokenClusters: ['*', lab, eu], systemIdentityClusters: [labs] }`,
    )
    expect(problemsOf({ file: path })).toEqual([
      'auth.cluster = "pord": there is no such cluster; give prod',
      'auth.tokenClusters[2] = "eu": there is no such cluster; give one of prod, lab',
      'auth.systemIdentityClusters[0] = "labs": there is no such cluster; give lab',
    ])
    // Clusters of sources never get a token, but have identities.
    const sources = 'clusterSources: [{ type: directory, path: more }]\n'
    const more = file(
      `${clusters}${sources}auth: { tokenClusters: [eu], systemIdentityClusters: [eu] }`,
    )
    expect(problemsOf({ file: more })).toEqual([
      'auth.tokenClusters[0] = "eu": there is no such cluster; give one of prod, lab',
    ])
  })

  it('so are flags that name other clusters than the file', () => {
    const path = file('logLevel: warn\nclusters: [{ name: prod }]')
    const value = [{ kubeconfig: 'a' }]
    const flags = [{ place: '--kubeconfig', path: ['clusters'], value }]
    expect(problemsOf({ file: path, flags })).toEqual([
      `--kubeconfig: ${path}:2 already names clusters; give one or the other`,
    ])
    expect(load({ flags }).clusters).toEqual([{ name: 'default', kubeconfig: 'a' }])
  })

  it('so is an archive in an unknown database, without its password, and a mask without a path', () => {
    const url = 'mysql://me:secret@database/past'
    const problems = problemsOf({
      file: file(`archive:\n  url: ${url}\n  masked: [Pod]\n`),
    }).join('\n')
    expect(problems).toContain(':2: archive.url: ')
    expect(problems).toContain('file:PATH, postgres://… or memory:')
    expect(problems).toContain('Pod:/spec/containers/*/env')
    expect(problems).not.toContain('secret')
  })

  it('so is a Prometheus that cannot tell clusters apart, and one of which no label can be named', () => {
    const config = (clusters: string, prometheus: string): string =>
      file(`clusters: [${clusters}]\nmetrics: { prometheus: { ${prometheus} } }\n`)
    const url = "url: 'http://prometheus:9090'"
    const two = '{ name: a }, { name: b }'
    expect(problemsOf({ file: config(two, url) })).toEqual([
      'metrics.prometheus.clusterLabel: with several clusters it needs the label that names the cluster, or {cluster} in metrics.prometheus.url',
    ])
    for (const given of [
      config('{ name: a }', url),
      config(two, `${url}, clusterLabel: cluster`),
      config(two, "url: 'https://{cluster}.example.com/prometheus'"),
    ]) {
      expect(problemsOf({ file: given })).toEqual([])
    }
    const options = gatewayOptionsOf(load({ file: config('{ name: a }', url) }))
    expect(options.prometheus).toEqual({ url: 'http://prometheus:9090' })
    for (const wrong of [
      'url: prometheus',
      "url: 'http://me:secret@prometheus'",
      `${url}, clusterLabel: 'a"} or {b='`,
      `${url}, nodeLabel: 'a b'`,
    ]) {
      const problems = problemsOf({ file: config('{ name: a }', wrong) })
      expect(problems).toHaveLength(1)
      expect(problems[0]).not.toContain('secret')
    }
  })

  it('so is an alias that cannot begin a name', () => {
    expect(problemsOf({ file: file('aliases: { stable.example.com: my-own }') })).toEqual([
      expect.stringContaining('"my-own": an alias is a capital letter followed by'),
    ])
  })

  it('so are labels that Kubernetes would refuse', () => {
    const path = file('clusters:\n  - { context: a, labels: { "no key": x } }\n')
    expect(problemsOf({ file: path })[0]).toContain('"no key" is not a label key')
  })

  it('so is a source of clusters whose hub is none of the clusters', () => {
    const path = file('clusters: [{ name: a }]\nclusterSources: [{ type: argocd, hub: b }]\n')
    expect(problemsOf({ file: path })).toEqual([
      'clusterSources[0].hub = "b": there is no such cluster; give a',
    ])
  })

  it('shares clusters by a Postgres, and not the one that reviews tokens', () => {
    const config = (everywhere: string, url: string): string =>
      `clusters: [{ name: a }, { name: b${everywhere} }]
auth: { mode: token-review, cluster: b }
archive: { url: ${url} }
share: { address: 'http://a:4000' }`
    expect(problemsOf({ file: file(config('', 'file:a.db')) })).toEqual([
      'archive.url: gateways share clusters (share.address) only by a Postgres that all of them reach: postgres://…',
      'clusters[1].everywhere must be true: each gateway reviews tokens by this cluster (auth.mode token-review)',
    ])
    expect(problemsOf({ file: file(config(', everywhere: true', 'postgres://a/b')) })).toEqual([])
  })

  it('so is no cluster at all without a source of clusters', () => {
    expect(problemsOf({ file: file('clusters: []\n') })).toEqual([
      'clusters = []: there must be at least one, or a source of clusters',
    ])
    const path = file('clusterSources: [{ type: directory, path: clusters }]\n')
    const { clusters, clusterSources } = loadConfig({ file: path, variables: {}, flags: [] })
    expect(clusters).toEqual([])
    expect(clusterSources).toEqual([{ type: 'directory', path: join(dirname(path), 'clusters') }])
  })

  it('so are two clusters of one name', () => {
    const path = file('clusters:\n  - context: a\n  - name: a\n')
    expect(problemsOf({ file: path })[0]).toContain('two clusters have the same name')
  })
})
