import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { checkDocuments, type DocumentBreak } from 'informerql'
import { parse } from 'graphql'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const before = `
  directive @semanticNonNull on FIELD_DEFINITION
  directive @old on FIELD
  interface KubernetesObject { id: ID! name: String! }
  type Query {
    pods(where: PodWhere, namespace: String, phase: Phase): [Pod!]
    widgets: [Widget!]
  }
  type Pod implements KubernetesObject {
    id: ID! name: String! phase: String restarts: Int! node: String @deprecated(reason: "use nodeName")
    spec: PodSpec
  }
  type PodSpec { hostname: String containers: [String!]! }
  type Widget { id: ID! }
  enum Phase { Running Pending Lost }
  input PodWhere { name: StringFilter, owner: StringFilter, and: [PodWhere!] }
  input StringFilter { eq: String, near: String }
`
const changed = (from: string, to: string): string => {
  expect(before).toContain(from)
  return before.replace(from, to)
}

const check = async (
  text: string,
  schema: string,
  against: string | undefined = before,
): Promise<readonly DocumentBreak[]> =>
  checkDocuments({ documents: [{ file: 'pods.graphql', text }], schema, against })

const broken = async (text: string, schema: string): Promise<readonly unknown[]> =>
  (await check(text, schema)).map(({ line, column, code, coordinate }) => [
    `${line}:${column}`,
    code,
    coordinate,
  ])

describe('a document breaks', () => {
  it.each([
    {
      by: 'a field that is gone',
      text: '{ pods { spec { hostname } } }',
      schema: changed('hostname: String', ''),
      at: '1:17',
      code: 'FIELD_REMOVED',
      coordinate: 'PodSpec.hostname',
    },
    {
      by: 'a field whose type has changed, although the document stays valid',
      text: '{ pods { phase } }',
      schema: changed('phase: String', 'phase: Int'),
      at: '1:10',
      code: 'FIELD_TYPE_CHANGED',
      coordinate: 'Pod.phase',
    },
    {
      by: 'a field that may be null now',
      text: '{ pods { restarts } }',
      schema: changed('restarts: Int!', 'restarts: Int'),
      at: '1:10',
      code: 'FIELD_TYPE_CHANGED',
      coordinate: 'Pod.restarts',
    },
    {
      by: 'a kind that is no longer served',
      text: '{ widgets { id } }',
      schema: changed('widgets: [Widget!]', ''),
      at: '1:3',
      code: 'FIELD_REMOVED',
      coordinate: 'Query.widgets',
    },
    {
      by: 'an argument that is gone',
      text: '{ pods(namespace: "a") { id } }',
      schema: changed(' namespace: String,', ''),
      at: '1:8',
      code: 'FIELD_ARGUMENT_REMOVED',
      coordinate: 'Query.pods(namespace:)',
    },
    {
      by: 'an argument that must be given',
      text: '{ pods { id } }',
      schema: changed('namespace: String', 'namespace: String!'),
      at: '1:3',
      code: 'INVALID',
      coordinate: 'Query.pods',
    },
    {
      by: 'a filter that it writes and that is gone',
      text: '{ pods(where: { owner: { eq: "a" } }) { id } }',
      schema: changed(' owner: StringFilter,', ''),
      at: '1:17',
      code: 'INPUT_FIELD_REMOVED',
      coordinate: 'PodWhere.owner',
    },
    {
      by: 'a filter that its variable may carry and that is gone',
      text: 'query ($where: [PodWhere!]) { pods(where: { and: $where }) { id } }',
      schema: changed(', near: String', ''),
      at: '1:17',
      code: 'INPUT_FIELD_REMOVED',
      coordinate: 'StringFilter.near',
    },
    {
      by: 'a filter that its variable must carry now',
      text: 'query ($name: StringFilter) { pods(where: { name: $name }) { id } }',
      schema: changed('near: String', 'near: String, exactly: Boolean!'),
      at: '1:15',
      code: 'INPUT_FIELD_ADDED',
      coordinate: 'StringFilter',
    },
    {
      by: 'a value that is gone',
      text: '{ pods(phase: Lost) { id } }',
      schema: changed(' Lost', ''),
      at: '1:15',
      code: 'ENUM_VALUE_REMOVED',
      coordinate: 'Phase.Lost',
    },
    {
      by: 'an interface that its kind has lost',
      text: '{ pods { ...on KubernetesObject { id } } }',
      schema: changed('type Pod implements KubernetesObject', 'type Pod'),
      at: '1:10',
      code: 'INVALID',
      coordinate: null,
    },
    {
      by: 'a directive that is gone',
      text: '{ pods { id @old } }',
      schema: changed('directive @old on FIELD', ''),
      at: '1:13',
      code: 'DIRECTIVE_REMOVED',
      coordinate: '@old',
    },
  ])('by $by', async ({ text, schema, at, code, coordinate }) => {
    expect(await broken(text, schema)).toEqual([[at, code, coordinate]])
  })

  it('once for each place, in the file where the fragment stands', async () => {
    const documents = [
      { file: 'b.graphql', text: 'query One { pods { ...Spec } }\nquery Two { pods { ...Spec } }' },
      { file: 'a.graphql', text: 'fragment Spec on Pod {\n  spec {\n    hostname\n  }\n}' },
    ]
    const breaks = await checkDocuments({
      documents,
      schema: changed('hostname: String', ''),
      against: before,
    })
    expect(breaks).toEqual([
      {
        file: 'a.graphql',
        line: 3,
        column: 5,
        coordinate: 'PodSpec.hostname',
        code: 'FIELD_REMOVED',
        message: "Field 'hostname' was removed from object type 'PodSpec'",
        hint: expect.stringContaining('before the upgrade'),
      },
    ])
  })

  it('with the reason of the deprecation as the way out', async () => {
    const schema = changed('node: String @deprecated(reason: "use nodeName")', 'nodeName: String')
    expect(await check('{ pods { node } }', schema)).toMatchObject([
      { hint: 'it was deprecated: use nodeName' },
    ])
  })

  it('without a schema to compare with, where the schema refuses it', async () => {
    expect(await check('{ pods { nme } }', before, undefined)).toMatchObject([
      { coordinate: 'Pod.nme', code: 'INVALID', message: expect.stringContaining('"name"') },
    ])
    const [found] = await check('{ pods { nme } }', before)
    expect(found?.hint).toContain('refuses it too')
  })
})

describe('a document does not break', () => {
  it.each([
    ['by a field that it does not select', changed('hostname: String', '')],
    ['by a new field', changed('phase: String', 'phase: String since: String')],
    ['by a field that is never null now', changed('phase: String', 'phase: String!')],
    ['by an optional argument', changed('namespace: String', 'namespace: String, name: String')],
    ['by an optional filter', changed('near: String', 'near: String, like: String')],
    ['by a new value of an argument', changed('Lost', 'Lost Unknown')],
    ['by a kind that it does not ask for', changed('widgets: [Widget!]', '')],
    ['by a deprecation', changed('phase: String', 'phase: String @deprecated(reason: "old")')],
    ['by a directive that it does not use', changed('directive @old on FIELD', '')],
  ])('%s', async (_what, schema) => {
    const text = `
      query Pods($where: PodWhere, $phase: Phase) {
        pods(where: $where, phase: $phase) @client { name phase restarts }
      }
      fragment Unused on Pod { id }`
    expect(await check(text, schema)).toEqual([])
  })
})

describe('what cannot be checked is told', () => {
  it.each([
    ['{ pods', before, /^pods\.graphql:1:7: Syntax Error/],
    ['fragment A on Pod { id } fragment A on Pod { name }', before, /fragment A stands at pods/],
    ['{ pods { id } }', 'type Query {', /^the schema is not SDL/],
  ])('%s', async (text, schema, says) => {
    const refused = check(text, schema, undefined)
    await expect(refused).rejects.toMatchObject({ code: 'DOCUMENT_CHECK', hint: /./ })
    await expect(refused).rejects.toThrow(says)
  })
})

describe('informerql schema --check', () => {
  let folder = ''
  let url = ''
  let end: () => Promise<void>
  const group = 'check.example.com'
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

  const definition = (properties: object): object => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties } },
            },
          },
        },
      ],
    },
  })

  const send = async (to: string, method: string, body: object): Promise<void> => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = { 'content-type': contentType }
    const answer = await fetch(url + to, { method, headers, body: JSON.stringify(body) })
    expect(answer.ok, await answer.text()).toBe(true)
  }

  /** The command, over a schema of the custom kind alone. */
  const schema = async (
    ...args: readonly string[]
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
    new Promise((resolve) => {
      const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
      const env = { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent' }
      const all = ['src/main.ts', 'schema', '--config', join(folder, 'config.yaml'), ...args]
      execFile(process.execPath, all, { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      )
    })

  beforeAll(async () => {
    const simulator = await startSimulator()
    url = simulator.url
    folder = await mkdtemp(join(tmpdir(), 'informerql-check-'))
    end = async () => {
      await simulator[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    }
    const config = {
      clusters: [{ name: 'one', server: url }],
      profile: { include: { groups: [group] } },
    }
    await writeFile(join(folder, 'config.yaml'), JSON.stringify(config))
    await mkdir(join(folder, 'documents', 'widgets'), { recursive: true })
    await writeFile(
      join(folder, 'documents', 'widgets', 'list.graphql'),
      '{\n  checkExampleComWidgets {\n    nodes { name spec { colour } }\n  }\n}\n',
    )
    await send(path, 'POST', definition({ colour: { type: 'string' }, teeth: { type: 'integer' } }))
  })
  afterAll(() => end())

  it('compares the schema of a cluster after an upgrade with the one before: 1 for a break, 0 for none', async () => {
    const old = join(folder, 'old.graphql')
    const printed = await schema()
    expect(printed.stdout).toContain('colour: String')
    await writeFile(old, printed.stdout)
    const documents = join(folder, 'documents')

    const change = async (properties: object): Promise<void> => {
      const { spec } = definition(properties) as { readonly spec: object }
      await send(`${path}/widgets.${group}`, 'PATCH', { spec })
    }
    // Harmless: a field that no document reads goes away, another one comes.
    await change({ colour: { type: 'string' }, size: { type: 'integer' } })
    const fine = await schema('--check', documents, '--against', old, '--federation')
    expect(fine).toMatchObject({ code: 0, stdout: 'the schema serves 1 document\n' })

    await change({ size: { type: 'integer' } })
    const told = await schema('--check', documents, '--against', old)
    expect(told.code).toBe(1)
    expect(told.stdout).toMatch(
      /widgets\/list\.graphql:3:25: \w+Spec\.colour: Field 'colour' was removed .*\n {2}take the field out .*\n1 break in 1 of 1 document\n$/,
    )

    const json = await schema('--check', documents, '--json')
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toEqual({
      documents: 1,
      breaks: [
        {
          file: join(documents, 'widgets', 'list.graphql'),
          line: 3,
          column: 25,
          coordinate: expect.stringMatching(/Spec\.colour$/),
          code: 'INVALID',
          message: expect.stringContaining('Cannot query field "colour"'),
          hint: expect.any(String),
        },
      ],
    })

    const manifest = join(folder, 'documents.json')
    await writeFile(manifest, JSON.stringify({ abc: '{ checkExampleComWidgets { totalCount } }' }))
    expect(await schema('--check', manifest)).toMatchObject({ code: 0 })
  })

  it('reads documents in sources and as graphql-codegen writes them, each at its place', async () => {
    const sources = join(folder, 'sources')
    await mkdir(join(sources, 'gql'), { recursive: true })
    const source = [
      "import { gql } from '@apollo/client' // gql`{ notThis }`",
      "import { graphql } from './gql/index.ts'",
      "export const url = 'https://example.com/gql'",
      '/** For example gql`{ norThis }`. */',
      'export const card = gql`',
      '  fragment Card on CheckExampleComWidget { name }`',
      'export const query = gql`',
      '  query Cards { checkExampleComWidgets { nodes { ...Card none } } }',
      '  ${[card].map((one) => `${one}`).join("")}`',
      'const other = graphql(`query Tagged { checkExampleComWidgets { nodes { lacking } } }`)',
      'const third = graphql(/* GraphQL */ `query Commented { checkExampleComWidgets { absent } }`)',
      'const fourth = /* GraphQL */ `query Bare { checkExampleComWidgets { gone } }`',
      'const fifth = graphql("query Quoted { checkExampleComWidgets { away } }")',
    ].join('\n')
    await writeFile(join(sources, 'page.tsx'), source)
    await writeFile(
      join(sources, 'View.vue'),
      '<script setup>\nuseQuery(gql`{ checkExampleComWidgets { missing } }`)\n</script>\n',
    )
    const text = 'query Written { checkExampleComWidgets { nodes { ...Card unknown } } }'
    const card = 'fragment Card on CheckExampleComWidget { name }'
    const documents = parse(`${text} ${card}`, { noLocation: true })
    await writeFile(
      join(sources, 'gql', 'graphql.ts'),
      `export const A = ${JSON.stringify(documents)} as unknown as DocumentNode<AQuery, AVariables>;
export const B = new TypedDocumentString(\`
    query Texts { checkExampleComWidgets { nowhere } }
    ${card}\`, {"fragmentName":"Card"}) as unknown as TypedDocumentString<BQuery, BVariables>;\n`,
    )
    const { code, stdout } = await schema('--check', sources, '--json')
    const { documents: count, breaks } = JSON.parse(stdout)
    expect(code).toBe(1)
    expect(count).toBe(3)
    const told = breaks.map(({ file, line, column, coordinate }: DocumentBreak) => [
      `${relative(sources, file)}:${line}:${column}`,
      coordinate?.split('.').at(-1),
    ])
    expect(told).toEqual([
      ['View.vue:2:41', 'missing'],
      ['gql/graphql.ts:1:75', 'unknown'],
      ['gql/graphql.ts:3:44', 'nowhere'],
      ['page.tsx:8:58', 'none'],
      ['page.tsx:10:72', 'lacking'],
      ['page.tsx:11:81', 'absent'],
      ['page.tsx:12:69', 'gone'],
      ['page.tsx:13:64', 'away'],
    ])
    const none = join(folder, 'none')
    await mkdir(none)
    await writeFile(join(none, 'plain.ts'), "export { graphql } from 'graphql'\n")
    expect(await schema('--check', none)).toMatchObject({ code: 2 })
  })

  it('prints the mutations that a gateway with --allow-writes serves', async () => {
    expect((await schema()).stdout).not.toContain('type Mutation')
    const { stdout } = await schema('--allow-writes')
    expect(stdout).toContain('type Mutation')
    expect(stdout).toContain('scale(')
  })

  it('ends with 2 where nothing could be checked, and says why', async () => {
    const nowhere = await schema('--check', join(folder, 'nowhere'))
    expect(nowhere).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('nowhere'),
    })
    const empty = join(folder, 'empty')
    await mkdir(empty)
    expect(await schema('--check', empty)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no documents'),
    })
    expect(await schema('--against', 'old.graphql')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--check'),
    })
    const documents = join(folder, 'documents')
    const unreachable = join(folder, 'unreachable.yaml')
    await writeFile(unreachable, '{ clusters: [{ name: one, server: "http://127.0.0.1:1" }] }')
    expect(await schema('--check', documents, '--config', unreachable)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ECONNREFUSED'),
    })
  })
})
