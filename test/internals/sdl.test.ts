// Imports internals: a gateway stops at the first declaration that is wrong; a start for each of 110 would take half a minute.
import { describe, expect, it } from 'vitest'
import { SdlError } from '../../src/graphql/sdl/sdl-error.ts'
import { buildSchemaModel, type SchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources } from '../schema/captured-cluster.ts'

const packageSdl = await readPackageSdl()

const build = (text: string, optional = false): SchemaModel =>
  buildSchemaModel({
    resources: capturedResources,
    openapi: capturedOpenApi,
    sdl: [...packageSdl, { file: 'mine.graphql', text, optional }],
  })

const problemOf = (text: string): SdlError => {
  const { problems } = build(text)
  expect(problems).toHaveLength(1)
  const [problem] = problems
  if (!(problem instanceof SdlError)) throw new Error('not an SdlError', { cause: problem })
  return problem
}

describe("the user's own SDL", () => {
  it('adds indexes and relations to those of the package', () => {
    const model = build(`
      extend type Pod
        @index(name: "team", path: "metadata.labels[\\"example.com/team\\"]")
        @index(name: "cpu", path: "spec.containers[*].resources.requests.cpu", type: QUANTITY)
        @index(name: "started", path: "status.startTime", type: DATE_TIME)
        @index(name: "hostNetwork", path: "spec.hostNetwork", type: BOOLEAN)
        @index(name: "gpus", path: "spec.containers[*].resources.limits[\\"nvidia.com/gpu\\"]", type: QUANTITY, reduce: POD_TOTAL)
      extend type Deployment {
        "The ConfigMap that an annotation names."
        settings: ConfigMap @reference(path: "metadata.annotations[\\"example.com/settings\\"]")
      }
      extend type ConfigMap { settingsOf: DeploymentConnection @reverse(of: "Deployment.settings") }
    `)
    expect(model.problems).toEqual([])
    const indexes = model.kindOfType('Pod')?.indexes ?? []
    expect(
      indexes.filter(({ name }) =>
        ['team', 'cpu', 'started', 'hostNetwork', 'gpus'].includes(name),
      ),
    ).toEqual([
      { name: 'team', paths: ['metadata.labels["example.com/team"]'], type: 'string' },
      {
        name: 'cpu',
        paths: ['spec.containers[*].resources.requests.cpu'],
        type: 'quantity',
      },
      { name: 'started', paths: ['status.startTime'], type: 'dateTime' },
      { name: 'hostNetwork', paths: ['spec.hostNetwork'], type: 'boolean' },
      {
        name: 'gpus',
        paths: ['spec.containers[*].resources.limits["nvidia.com/gpu"]'],
        type: 'quantity',
        reduce: 'podTotal',
        lazy: true,
      },
    ])
    expect(model.kindOfType('Deployment')?.relations).toContainEqual({
      definition: {
        form: 'reference',
        name: 'settings',
        from: 'Deployment',
        to: 'ConfigMap',
        paths: ['metadata.annotations["example.com/settings"]'],
        many: false,
      },
      many: false,
      description: 'The ConfigMap that an annotation names.',
    })
    expect(
      model.kindOfType('ConfigMap')?.relations.map(({ definition }) => definition),
    ).toContainEqual({
      form: 'reverse',
      name: 'settingsOf',
      from: 'ConfigMap',
      to: 'Deployment',
      of: 'Deployment.settings',
    })
  })

  it.each([
    ['syntax', 1, 'extend type Pod @index(name: }', 'syntax'],
    ['unsupported', 1, 'type Mine { a: String }', 'extend type'],
    ['unsupported', 1, 'extend type Pod @key(fields: "id")', '@index'],
    ['unsupported', 1, 'extend type Pod @index(name: "a")', '@index'],
    ['unsupported', 1, 'extend type Pod @index(name: "a", path: "b", kind: "c")', 'reduce'],
    ['unsupported', 1, 'extend type Pod @index(name: "a", path: "b", type: NUMBER)', '@index'],
    ['unsupported', 1, 'extend type Pod @index(name: "a-b", path: "c")', 'letters'],
    ['unsupported', 1, 'extend type Pod @index(name: "a", path: "b", reduce: SUM)', 'type: INT'],
    [
      'unsupported',
      1,
      'extend type Pod @index(name: "a", path: "b", type: BOOLEAN, reduce: SUM)',
      'type: INT',
    ],
    [
      'unsupported',
      1,
      'extend type Pod @index(name: "a", path: "b", type: INT, searchable: true)',
      'searchable',
    ],
    [
      'unsupported',
      1,
      'extend type Pod @index(name: "a", path: "spec.nodeName", type: QUANTITY, reduce: POD_TOTAL)',
      'spec.containers[*].resources.requests.NAME',
    ],
    [
      'unsupported',
      1,
      'extend type Pod @index(name: "a", path: "spec.containers[*].resources.requests.cpu", reduce: POD_TOTAL)',
      'type: QUANTITY',
    ],
    ['unsupported', 2, 'extend type Pod {\n a: Node }', '@reference'],
    [
      'unsupported',
      1,
      'extend type Pod { a(x: Int): Node @reference(path: "b") }',
      'leave them out',
    ],
    ['unknown-type', 1, 'extend type Pood @index(name: "a", path: "b")', 'informerql schema'],
    ['unknown-type', 1, 'extend type Pod { a: Nod @reference(path: "b") }', 'name of a kind'],
    ['unknown-type', 1, 'extend type Pod { a: Node @owner(through: "Nope") }', 'name of a kind'],
    [
      'unknown-relation',
      1,
      'extend type Node { a: PodConnection @reverse(of: "Pod.nope") }',
      'Pod.nope',
    ],
    [
      'unknown-relation',
      1,
      'extend type Node { a: PodConnection @reverse(of: "Pod.job") }',
      'Pod.job',
    ],
    ['duplicate-index', 2, '\nextend type Pod @index(name: "phase", path: "a")', 'another name'],
    [
      'duplicate-relation',
      1,
      'extend type Pod { node: Node @reference(path: "b") }',
      'another name',
    ],
    ['reserved-index-name', 1, 'extend type Pod @index(name: "and", path: "a")', 'another name'],
    ['reserved-index-name', 1, 'extend type Pod @index(name: "health", path: "a")', 'another name'],
    ['reserved-index-name', 1, 'extend type Pod @index(name: "or", path: "a")', 'another name'],
    ['reserved-index-name', 1, 'extend type Pod @index(name: "not", path: "a")', 'another name'],
    [
      'reserved-index-name',
      1,
      'extend type Pod @index(name: "creationTimestamp", path: "a")',
      'another name',
    ],
    ['bad-path', 1, 'extend type Pod @index(name: "a", path: "spec..b")', 'spec.containers'],
    ['bad-path', 1, 'extend type Pod { a: Node @reference(path: "spec[0]") }', 'spec.containers'],
    ['bad-path', 1, 'extend type Pod { a: PodConnection @selects(path: "") }', 'spec.containers'],
    [
      'bad-path',
      1,
      'extend type Pod { a: PodConnection @reference(path: "x[*].name", namespacePath: "y[*].ns") }',
      'share',
    ],
    ['native-field', 1, 'extend type Pod { spec: Node @reference(path: "a") }', 'another name'],
    ['native-field', 1, 'extend type Pod { owners: Node @reference(path: "a") }', 'another name'],
    [
      'native-field',
      1,
      'extend type Service { status: Node @reference(path: "a") }',
      'another name',
    ],
    ['field-type', 1, 'extend type Pod { a: Node @reference(path: "b[*].c") }', 'NodeConnection'],
    ['field-type', 1, 'extend type Node { a: Pod @reverse(of: "Pod.node") }', 'PodConnection'],
    [
      'field-type',
      1,
      'extend type Pod { a: [ConfigMap!] @reference(path: "b") }',
      'ConfigMapConnection',
    ],
    ['field-type', 1, 'extend type Pod { a: Service @selects(path: "b") }', 'ServiceConnection'],
    ['field-type', 1, 'extend type Pod { a: Node @objectRef(path: "b") }', 'ObjectRef'],
    ['field-type', 1, 'extend type Pod { a: ObjectRef @objectRef(path: "b[*].c") }', '[ObjectRef]'],
    [
      'native-field',
      1,
      'extend type Pod { node: ObjectRef @objectRef(path: "b") }',
      'another name',
    ],
    ['native-field', 1, 'extend type Pod { namespace: Namespace @owner }', 'another name'],
    [
      'duplicate-relation',
      1,
      'extend type Event { involved: ObjectRef @objectRef(path: "b") }',
      'another name',
    ],
    ['bad-path', 1, 'extend type Pod { a: ObjectRef @objectRef(path: "b..c") }', 'spec.containers'],
    ['bad-path', 1, 'extend type Pod @index(name: "a", path: [])', 'give it one'],
    [
      'unknown-field',
      3,
      'extend type Pod\n@index(name: "a", path: "spec.hostname")\n@index(name: "b", path: "spec.hostnames")',
      'informerql schema',
    ],
    ['unknown-field', 1, 'extend type Pod @index(name: "a", path: "spec.nodeName.x")', 'path'],
    [
      'unknown-field',
      1,
      'extend type Pod @index(name: "a", path: "spec.containers.image")',
      'path',
    ],
    ['unknown-field', 1, 'extend type Pod @index(name: "a", path: "metadata.labels.b.c")', 'path'],
    ['unknown-field', 1, 'extend type Secret @index(name: "a", path: "data.password")', 'path'],
    ['reserved-index-name', 1, 'extend type Pod @index(name: "labels", path: "a")', 'another name'],
    ['unknown-field', 1, 'extend type Pod { a: Node @reference(path: "spec.nodename") }', 'path'],
    ['unknown-field', 1, 'extend type Pod { a: Node @named(name: "{spec.nodename}") }', 'path'],
    ['unknown-field', 1, 'extend type Pod { a: Node @uid(path: "spec.nodeUid") }', 'path'],
    [
      'unknown-field',
      1,
      'extend type Pod { a: PodConnection @selects(path: "spec.pods") }',
      'path',
    ],
    ['unsupported', 1, 'extend type Pod { a: Node @reference }', 'as'],
    [
      'unsupported',
      1,
      'extend type Pod { a: Node @reference(path: "spec.nodeName", otherwise: "{metadata.name}") @named }',
      'leave one',
    ],
    [
      'field-type',
      1,
      'extend type Pod { a: Node @same(text: "{metadata.name}", as: "{metadata.name}") }',
      'NodeConnection',
    ],
    [
      'unsupported',
      1,
      'extend type Pod { a: NodeConnection @same(text: [], as: "{metadata.name}") }',
      'both ends',
    ],
    [
      'unknown-field',
      1,
      'extend type Pod { a: NodeConnection @same(text: "{metadata.name}", as: "{spec.podCidr}") }',
      'path',
    ],
    [
      'bad-path',
      1,
      'extend type Pod { a: NodeConnection @same(text: "{metadata.name | upper}", as: "x") }',
      '{metadata.name}',
    ],
    [
      'field-type',
      1,
      'extend type Pod { a: NodeConnection @sameLabel(key: "app") }',
      'KubernetesObjectConnection',
    ],
    [
      'unknown-relation',
      1,
      'extend type Pod { a: ObjectRef @objectRef(path: "spec", kindAt: "nodes.kind") }',
      'RELATION.PATH',
    ],
    [
      'unknown-field',
      1,
      'extend type Pod { a: NodeConnection @selects(path: "spec.nodeSelector", namespaceLabels: "spec.namespaces") }',
      'path',
    ],
    ['unsupported', 1, 'extend type Pod { a: Node @reference(at: "spec") }', 'by as'],
    [
      'unsupported',
      1,
      'extend type Pod { a: Node @reference(path: "spec.nodeName", groupPath: "kind") }',
      'both',
    ],
    [
      'unsupported',
      1,
      'extend type Pod { a: Node @reference(path: "spec.nodeName") @reverse(of: "Pod.node") }',
      '@reference',
    ],
    [
      'unsupported',
      1,
      'extend type Pod { a: NodeConnection @reference(path: "spec.nodeName") @named(name: "{metadata.name}-#") }',
      'alone',
    ],
    ['unknown-relation', 1, 'extend type Pod { a: Node @reference(as: "Pod.nope") }', 'correct'],
    ['bad-path', 1, 'extend type Pod { a: Node @named(name: "node") }', '{metadata.name}'],
    [
      'bad-path',
      1,
      'extend type Pod { a: Node @named(name: "{metadata.name") }',
      '{metadata.name}',
    ],
    ['bad-path', 1, 'extend type Pod { a: Node @named(name: "#{metadata.name}") }', '# at the end'],
    ['field-type', 1, 'extend type Pod { a: Node @named(name: "{metadata.name}-#") }', 'NodeConn'],
    ['bad-path', 1, 'extend type Pod { a: Node @through(path: "node") }', '2 to 6'],
    ['unknown-relation', 1, 'extend type Pod { a: Node @through(path: "job.nope") }', 'Job.nope'],
    ['field-type', 1, 'extend type Pod { a: Lease @through(path: "job.cronJob") }', 'CronJob'],
    [
      'field-type',
      1,
      'extend type Pod { a: Ingress @through(path: "services.ingresses") }',
      'IngressConnection',
    ],
    ['unsupported', 1, 'extend type Pod { a: Node @refer(path: "spec.nodeName") }', '@reference'],
    ['unsupported', 1, 'extend type Pod { a: Node @reference(paths: "b") }', 'namespacePath'],
    [
      'unsupported',
      1,
      'extend type Pod { __a: Node @reference(path: "spec.nodeName") }',
      'another',
    ],
    [
      'unsupported',
      1,
      'extend type Pod { a: Node @reference(path: "spec.nodeName", category: "x") }',
      'KubernetesObject',
    ],
    ['unsupported', 1, 'extend type Pod { a: ObjectRef @objectRef(path: []) }', 'stands'],
    ['unknown-field', 1, 'extend type Pod { a: ObjectRef @objectRef(path: "spec.ref") }', 'path'],
    ['circle', 1, 'extend type Node { a: PodConnection @through(path: "a.pods") }', 'another way'],
  ])('%s in line %i: %s', (kind, line, text, wayOut) => {
    const problem = problemOf(text)
    expect(problem).toMatchObject({ code: 'SCHEMA_SDL', problem: kind, file: 'mine.graphql', line })
    expect(problem.message).toMatch(new RegExp(`^mine\\.graphql:${line}: `))
    expect(problem.hint).toContain(wayOut)
  })

  it.each([
    'a: Node @refer(path: "spec.nodeName")',
    'a: Node @reference(paths: "spec.nodeName")',
    'a: Node @reference(path: 3)',
    'a: Node @uid',
    'a: Node @reference',
    'a: Node @reference(path: "spec.nodename")',
    'a: Node @reference(path: "spec..nodeName")',
    'a: Nodde @reference(path: "spec.nodeName")',
    'a: Node',
    'a: Node @reference(path: "spec.nodeName") @uid(path: "metadata.uid")',
    'a(x: Int): Node @reference(path: "spec.nodeName")',
    'a: ConfigMap @reference(path: "spec.volumes[*].configMap.name")',
    'a: NodeConnection @reverse(of: "Node.pods")',
    'a: Node @reference(as: "Pod.nodez")',
    'a: NodeConnection @same(text: "{metadata.name | foo}", as: "{metadata.name}")',
    'a: Node @named(name: "{metadata.name")',
    'a: NodeConnection @through(path: "node.nod")',
    'a: NodeConnection @selects(path: "spec.nodeSelector", selector: LABELS)',
    'a: ObjectRef @objectRef(path: "spec.ref")',
    'a: ObjectRef @objectRef(path: "spec..ref")',
    'a: ObjectRef @objectRef(path: "spec", kindAt: "nod.kind")',
  ])('names the field that is wrong, and its line: %s', (field) => {
    const problem = problemOf(`extend type Pod {\n${field}\n}`)
    expect(problem.message).toMatch(/^mine\.graphql:2: Pod\.a\b/)
    expect(problem.hint).not.toBe('')
  })

  it('names the whole circle of relations that go through each other', () => {
    const { problems } = build(`
      extend type Node { a: PodConnection @through(path: "pods.b") }
      extend type Pod {
        b: PodConnection @through(path: "node.a")
        c: PodConnection @through(path: "b.services.pods")
      }
    `)
    expect(problems.map(({ message }) => message)).toEqual([
      'mine.graphql:4: Pod.b goes in a circle: Node.a → Pod.b → Node.a',
      'mine.graphql:2: Node.a goes in a circle: Node.a → Pod.b → Node.a',
      'mine.graphql:5: Pod.c: there is no relation Pod.b to go through',
    ])
  })

  it('may say nothing at all', () => {
    for (const text of ['', ' \n', '# later\n\n  # more']) expect(build(text).problems).toEqual([])
  })

  it('may repeat the definitions of the directives, for editors', () => {
    expect(
      build('directive @index(name: String!) on OBJECT\nenum IndexType { STRING }').problems,
    ).toEqual([])
    expect(problemOf('directive @mine on OBJECT')).toMatchObject({ problem: 'unsupported' })
  })

  it('names the place of the declaration that it repeats', () => {
    const problem = problemOf('extend type Pod @index(name: "phase", path: "a")')
    expect(problem.message).toMatch(/declared at schema\/core\.graphql:\d+$/)
  })

  it.each([
    'a: ObjectRef @objectRef(path: "spec")',
    'a: Node @reference(path: "spec.nodeName")',
    'a: NodeConnection @same(text: "{metadata.name}", as: "{metadata.name}")',
  ])('names the place of the field that it repeats: %s', (field) => {
    const problem = problemOf(`extend type Pod {\n${field}\n${field}\n}`)
    expect(problem).toMatchObject({ problem: 'duplicate-relation', line: 3 })
    expect(problem.message).toContain('Pod.a: is declared already at mine.graphql:2')
  })

  it('loses only what is wrong with it', () => {
    const model = build(`
      extend type Nope { a: Node @reference(path: "b") }
      extend type Pod @index(name: "good", path: "spec.hostname") @index(name: "or", path: "b")
    `)
    expect(model.problems).toHaveLength(2)
    expect(model.kindOfType('Pod')?.indexes.map(({ name }) => name)).toContain('good')
    expect(model.kindOfType('Pod')?.relations.length).toBeGreaterThan(5)
  })

  it('may speak of kinds that are not there, where it is optional', () => {
    const text = `
      extend type CertManagerCertificate { secret: Secret @reference(path: "spec.secretName") }
      extend type Secret { certificates: CertManagerCertificateConnection @reverse(of: "CertManagerCertificate.secret") }
    `
    expect(build(text, true).problems).toEqual([])
  })

  it('waits for kinds that a CRD may bring, and tells them from misspelt ones', () => {
    const waiting = build(`
      extend type CertManagerCertificate { secret: Secret @reference(path: "spec.secretName") }
      extend type Secret { certificates: CertManagerCertificateConnection @reverse(of: "CertManagerCertificate.secret") }
      extend type StableExampleComWidget @index(name: "size", path: "spec.size")
      extend type Pod { gateway: HTTPRoute @reference(path: "metadata.labels.a") }
    `)
    expect(waiting.problems).toEqual([])
    expect(waiting.dormant.map(({ typeName, place }) => [typeName, place.line])).toEqual([
      ['CertManagerCertificate', 2],
      ['StableExampleComWidget', 4],
      ['HTTPRoute', 5],
      ['CertManagerCertificate', 3],
    ])
    for (const [written, meant] of [
      ['Deploymnt', 'Deployment'],
      ['HorizontalPodAutoscalr', 'HorizontalPodAutoscaler'],
      ['configMap', 'ConfigMap'],
      ['Pods', 'Pod'],
    ] as const) {
      const problem = problemOf(`extend type ${written} @index(name: "a", path: "spec")`)
      expect(problem.hint).toContain(`did you mean ${meant}?`)
    }
    expect(problemOf('extend type Gadget @index(name: "a", path: "spec")').hint).toContain('prefix')
  })
})
