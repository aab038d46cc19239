import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type ContractServer, describeContract } from '../contract/contract-server.ts'
import { definedShapes } from '../gateway/definition-shapes.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { compile } from './compile.ts'

const strict = [
  '--noUncheckedIndexedAccess',
  '--noPropertyAccessFromIndexSignature',
  '--verbatimModuleSyntax',
  '--erasableSyntaxOnly',
]
const sources = ['--import', resolve('src/kubernetes.ts')]

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'informerql-custom-types-'))
})
afterAll(() => rm(dir, { recursive: true }))

const write = async (name: string, content: unknown): Promise<string> => {
  const file = join(dir, name)
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `informerql types`. */
function types(args: readonly string[], input = ''): Promise<Ended> {
  return new Promise((done) => {
    const program = ['src/main.ts', 'types', ...args]
    const options = { maxBuffer: 64 * 1024 * 1024, timeout: 120_000 }
    const child = execFile(process.execPath, program, options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

/** The types of definitions, from a file. */
async function typesOf(definitions: readonly Fields[], name = 'definitions.json'): Promise<string> {
  const file = await write(name, { kind: 'List', items: definitions })
  const { code, stdout, stderr } = await types(['--crd', file, ...sources])
  expect(stderr).toBe('')
  expect(code).toBe(0)
  return stdout
}

/** The name of the type of each version of a kind: `example.com/v1 Widget`. */
function namesIn(text: string): ReadonlyMap<string, string> {
  const constants = text.matchAll(
    /: Resource<(\w+)> = \{\n {2}group: '(.*)',\n {2}version: '(.*)',\n.*\n {2}kind: '(.*)',/g,
  )
  return new Map(
    Array.from(constants, ([, name = '', group, version, kind]) => [
      `${group}/${version} ${kind}`,
      name,
    ]),
  )
}

const widgets: Fields = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.types.test' },
  spec: {
    group: 'types.test',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A widget.',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', format: 'int32', description: 'How big */ it is.' },
                  colour: { type: 'string', enum: ['red', 'green'] },
                  port: { 'x-kubernetes-int-or-string': true },
                  note: { type: 'string', nullable: true },
                  labels: { type: 'object', additionalProperties: { type: 'string' } },
                  template: {
                    type: 'object',
                    'x-kubernetes-embedded-resource': true,
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                  values: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string' },
                        weight: { type: 'integer', format: 'int64' },
                      },
                    },
                  },
                },
              },
              status: { type: 'object', properties: { ready: { type: 'boolean' } } },
            },
          },
        },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

const content = {
  spec: {
    size: 3,
    colour: 'red',
    port: 'http',
    note: null,
    labels: { a: 'b' },
    template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } },
    values: { deep: [{ a: 1 }] },
    parts: [{ name: 'one', weight: 9_007_199_254_740_991 }],
  },
}

describe('informerql types', () => {
  it('writes types that every shape of custom objects fits, with the names of all fields', async () => {
    // The compiler takes long over 21,000 fields.
    const shapes = definedShapes.filter(({ kind }) => kind !== 'Huge')
    const text = await typesOf(shapes.map(({ definition }) => definition))
    const names = namesIn(text)
    const objects = shapes.map(({ kind, group, version, content: fields }) => {
      const apiVersion = `${group}/${version}`
      const name = names.get(`${apiVersion} ${kind}`)
      const object = { apiVersion, kind, metadata: { name: 'a' }, ...fields }
      return `void (${JSON.stringify(object)} satisfies ${name})`
    })
    expect(objects.length).toBeGreaterThan(30)
    expect(await compile([text, ...objects].join('\n'), strict)).toBe('')
  })

  it('writes types that refuse what the schema does not have', async () => {
    const uses = `
const apiVersion = 'types.test/v1'
const kind = 'Widget'
const metadata = { name: 'a' }
void ({ apiVersion, kind, metadata, ...${JSON.stringify(content)} } satisfies Widget)
// @ts-expect-error -- no such field
void ({ apiVersion, kind, metadata, spec: { size: 1, siez: 1 } } satisfies Widget)
// @ts-expect-error -- no such value
void ({ apiVersion, kind, metadata, spec: { size: 1, colour: 'blue' } } satisfies Widget)
// @ts-expect-error -- a size is required
void ({ apiVersion, kind, metadata, spec: {} } satisfies Widget)
// @ts-expect-error -- it may be null, not undefined
void ({ apiVersion, kind, metadata, spec: { size: 1, note: undefined } } satisfies Widget)
const typed: Resource<Widget> = widgets
void ({ apiVersion: 'types.test/v1beta1', kind, metadata, anything: 1 } satisfies WidgetV1beta1)
void [typed, widgetsV1beta1]`
    const text = await typesOf([widgets])
    expect(text).toContain(String.raw`/** How big *\/ it is. */`)
    expect(text).toContain('@deprecated')
    expect(await compile(`${text}${uses}`, strict)).toBe('')
  })

  it('writes what the guide shows, for the uses that it shows', async () => {
    const guide = await readFile('docs/custom-resource-types.md', 'utf8')
    const blocks = (language: string): readonly string[] =>
      Array.from(
        guide.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs')),
        ([, text = '']) => text,
      )
    const [yaml = ''] = blocks('yaml')
    const [shown, use = ''] = blocks('ts')
    const crds = await mkdtemp(join(dir, 'crds-'))
    await writeFile(join(crds, 'widgets.yaml'), yaml)
    expect((await types(['--crd', crds])).stdout).toBe(shown)
    const { stdout } = await types(['--crd', crds, ...sources])
    const own = use
      .replace(/import .* from '\.\/widgets\.ts'\n/, '')
      .replaceAll(/'informerql\/(\w+)'/g, (_, name: string) => `'${resolve(`src/${name}.ts`)}'`)
    expect(
      await compile(`${stdout}\n${own}`, [
        ...strict,
        '--types',
        'node',
        '--typeRoots',
        resolve('node_modules/@types'),
        '--lib',
        'esnext',
      ]),
    ).toBe('')
  })

  it('reads YAML, JSON, directories and the standard input, whatever else is in them, in any order', async () => {
    const [first, second] = definedShapes.map(({ definition }) => definition as object)
    const both = await typesOf([first, second])
    expect(await typesOf([second, first], 'reversed.json')).toBe(both)
    const others = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: a }'
    const input = [others, JSON.stringify(first), JSON.stringify(second)].join('\n---\n')
    expect((await types(['--crd', '-', ...sources], input)).stdout).toBe(both)
    const [one, two] = [
      await write('one.yaml', JSON.stringify(first)),
      await write('two.yml', input),
    ]
    const twice = await types(['--crd', one, two])
    expect(twice).toMatchObject({ code: 1, stdout: '' })
    expect(twice.stderr).toMatch(/two\.yml: .* is also defined by .*one\.yaml/)
  })

  it('checks that a file is up to date, and writes nothing then', async () => {
    const file = await write('widgets.json', widgets)
    const out = join(dir, 'widgets.ts')
    const missing = await types(['--crd', file, '--out', out, '--check'])
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/is out of date/) })
    expect(await types(['--crd', file, '--out', out])).toMatchObject({ code: 0, stdout: '' })
    expect(await types(['--crd', file, '--out', out, '--check'])).toMatchObject({ code: 0 })
    const text = await readFile(out, 'utf8')
    expect(text).toContain("from 'informerql/kubernetes'")
    await writeFile(out, `${text}\n`)
    expect((await types(['--crd', file, '--out', out, '--check'])).code).toBe(1)
    expect(await readFile(out, 'utf8')).toBe(`${text}\n`)
  })

  it('ends with 2 for arguments that make no sense, and with 1 for what cannot be read', async () => {
    const misused = await types(['--crds', 'a'])
    expect(misused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/--crds/) })
    const missing = await types(['--crd', '/not-there.yaml'])
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/ENOENT/) })
  })
})

describeContract('Types of custom resources', (server) => {
  const post = async (path: string, body: object): Promise<void> => {
    const { status, text } = await ask(server(), path, { method: 'POST', body })
    expect(status, text).toBe(201)
  }

  /** The definition, with the schema that the server publishes in its OpenAPI documents. */
  const publishedDefinition = async (of: ContractServer): Promise<Fields> => {
    const { json } = await ask(of, '/openapi/v3/apis/types.test/v1')
    const schemas = Object.values(json.components?.schemas ?? {}) as Fields[]
    const schema = schemas.find((one) =>
      one['x-kubernetes-group-version-kind']?.some((kind: Fields) => kind.kind === 'Widget'),
    )
    if (schema === undefined) return undefined
    const { spec } = widgets
    const versions = [
      {
        ...spec.versions[0],
        schema: {
          openAPIV3Schema: {
            ...schema,
            properties: { ...schema.properties, metadata: { type: 'object' } },
          },
        },
      },
      spec.versions[1],
    ]
    return { ...widgets, spec: { ...spec, versions } }
  }

  it('are the same from a file, from the cluster, and from what its OpenAPI publishes', async () => {
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets)
    await using kubeconfig = await writeKubeconfig(server())
    const fromFile = await typesOf([widgets])
    const flags = ['--cluster', '--kubeconfig', kubeconfig.path, '--group', 'types.test']
    const fromCluster = await types([...flags, ...sources])
    expect(fromCluster).toEqual({ code: 0, stdout: fromFile, stderr: '' })
    const published = await expect
      .poll(() => publishedDefinition(server()))
      .toBeDefined()
      .then(() => publishedDefinition(server()))
    expect(await typesOf([published])).toBe(fromFile)
    const path = '/apis/types.test/v1/namespaces/default/widgets'
    const type = { apiVersion: 'types.test/v1', kind: 'Widget' }
    await post(path, { ...type, metadata: { name: 'a' }, ...content })
    const { json } = await ask(server(), `${path}/a`)
    const { managedFields: _, ...metadata } = json.metadata
    const object = JSON.stringify({ ...json, metadata })
    expect(await compile(`${fromFile}\nvoid (${object} satisfies Widget)`, strict)).toBe('')
    const other = await types([...flags, '--group', 'nowhere.test'])
    expect(other.stderr).toMatch(/nowhere\.test: no definition serves a kind of this group/)
  })
})
