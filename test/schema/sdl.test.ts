import { describe, expect, it } from 'vitest'
import { SdlError } from '../../src/graphql/sdl/sdl-error.ts'
import { buildSchemaModel, type SchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources } from './captured-cluster.ts'

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
      extend type Deployment {
        "The ConfigMap that an annotation names."
        settings: ConfigMap @reference(path: "metadata.annotations[\\"example.com/settings\\"]")
      }
      extend type ConfigMap { settingsOf: DeploymentConnection @reverse(of: "Deployment.settings") }
    `)
    expect(model.problems).toEqual([])
    const indexes = model.kindOfType('Pod')?.indexes ?? []
    expect(
      indexes.filter(({ name }) => ['team', 'cpu', 'started', 'hostNetwork'].includes(name)),
    ).toEqual([
      { name: 'team', paths: ['metadata.labels["example.com/team"]'], type: 'string' },
      {
        name: 'cpu',
        paths: ['spec.containers[*].resources.requests.cpu'],
        type: 'quantity',
      },
      { name: 'started', paths: ['status.startTime'], type: 'dateTime' },
      { name: 'hostNetwork', paths: ['spec.hostNetwork'], type: 'boolean' },
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
  ])('%s in line %i: %s', (kind, line, text, wayOut) => {
    const problem = problemOf(text)
    expect(problem).toMatchObject({ code: 'SCHEMA_SDL', problem: kind, file: 'mine.graphql', line })
    expect(problem.message).toMatch(new RegExp(`^mine\\.graphql:${line}: `))
    expect(problem.hint).toContain(wayOut)
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
    expect(build(text).problems).toHaveLength(2)
  })
})
