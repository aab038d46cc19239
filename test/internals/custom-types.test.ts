// Imports internals: hostile definitions are many, and each by the command line would be a process.
import { describe, expect, it } from 'vitest'
import { typesCommand } from '../../src/controller/types-command.ts'
import { customTypes, CustomTypesError } from '../../src/kubernetes/typescript/custom-types.ts'
import { compile } from '../wire-types/compile.ts'

type Fields = Readonly<Record<string, unknown>>

const definition = (schema: unknown, spec: Fields = {}, version: Fields = {}): unknown => ({
  spec: {
    group: 'hostile.test',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, schema: { openAPIV3Schema: schema }, ...version }],
    ...spec,
  },
})
const typesOf = (...definitions: readonly unknown[]): string =>
  customTypes(
    definitions.map((one, at) => ({ place: `file ${at}`, definition: one })),
    { importFrom: 'informerql/kubernetes' },
  )
const object = (properties: Fields, more: Fields = {}): Fields => ({
  type: 'object',
  properties,
  ...more,
})
const text = { type: 'string' }
const named = (kind: string, plural: string, group = 'hostile.test'): Fields => ({
  group,
  names: { plural, kind },
})

/** Compiles a module without the package: the names that it imports are declared. */
const compiles = async (module: string): Promise<string> => {
  const [, names = ''] = /import type \{ (.*) \}/.exec(module) ?? []
  const declared = names
    .split(', ')
    .map(
      (name) =>
        `type ${name}${name === 'Resource' ? '<T> = { kind: string; of?: T; [x: string]: unknown }' : ' = unknown'}`,
    )
  return await compile(module.replace(/import type .*\n/, `${declared.join('\n')}\n`))
}

describe('Types of hostile definitions', () => {
  it('quote, escape and number names, so that the module compiles', async () => {
    const names = [
      'a b',
      "it's",
      'b"c',
      '*/',
      '\\',
      '\n',
      '',
      '__proto__',
      'constructor',
      '日本',
      '1st',
      'x-y',
      'xY',
      'class',
      '${a}',
      '`',
    ]
    const properties = Object.fromEntries(
      names.map((name) => [
        name,
        object({ value: text }, { description: `*/ ${name} */\r\n\u2028 \u0000` }),
      ]),
    )
    const enums = object({
      of: { type: 'string', enum: [...names, 'x'] },
      numbers: { type: 'integer', enum: [1, -2] },
    })
    const kinds = [
      definition(object({ ...properties, enums })),
      definition(
        object({ spec: object({ a: object({ b: text }), aB: text, 'a-b': object({ c: text }) }) }),
        named('Record', 'records'),
      ),
      definition(object({ spec: object({ a: text }) }), named('ThingSpec', 'classes')),
      definition(
        object({ spec: object({ a: { type: 'object', additionalProperties: text } }) }),
        named('Resource', 'resources'),
      ),
      definition(object({ spec: object({ a: text }) }), named('Thing', 'things', 'other.test')),
      definition(object({}), named('New', 'new')),
      definition(object({}), named('my-Kind', 'my-kinds')),
      definition(object({}), named('Undefined', 'undefined')),
    ]
    const module = typesOf(...kinds)
    expect(module).toContain('export type HostileTestRecord = {')
    expect(module).toContain('export type OtherTestThing = {')
    expect(await compiles(module)).toBe('')
  })

  it('have ten thousand properties within moments', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`field${at}`, object({ a: text })]),
    )
    expect(
      typesOf(definition(object({ spec: object(properties) }))).match(/^export type /gm),
    ).toHaveLength(10_002)
  })

  it('have twenty thousand names that are the same but for their signs within moments', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [
        `a${'!'.repeat(at % 200)}${'?'.repeat(at / 200)}`,
        object({ b: text }),
      ]),
    )
    const types = typesOf(definition(object({ spec: object(properties) }))).match(
      /^export type \w+/gm,
    )
    expect(new Set(types).size).toBe(20_002)
  })

  const itself: Record<string, unknown> = { type: 'object' }
  itself['properties'] = { child: itself }
  const list: Record<string, unknown> = { type: 'array' }
  list['items'] = list
  let doubled: Fields = object({ a: text })
  for (let times = 0; times < 40; times += 1) doubled = object({ a: doubled, b: doubled })

  it.for([
    ['a schema that contains itself', itself, /deeper than 100 levels, or contains itself/],
    ['a list of itself', list, /deeper than 100 levels/],
    ['a schema that unfolds without end', doubled, /more than 200000 parts/],
    ['a schema that is a text', 'text', /a schema is an object/],
    ['a property that is null', object({ a: null }), /v1\.a: a schema is an object/],
    ['no type', object({ a: {} }), /v1\.a: it has no type/],
    ['an unknown type', object({ a: { type: 'file' } }), /v1\.a: it has the type "file"/],
    ['a reference', object({ a: { $ref: '#/components/schemas/B' } }), /v1\.a: it refers to "B"/],
    ['required that is a text', object({}, { required: 'a' }), /required or enum is not a list/],
    [
      'a description that is a number',
      object({}, { description: 1 }),
      /the description is no text/,
    ],
  ] as const)('are refused, by place: %s', ([, schema, says]) => {
    const types = (): string => typesOf(definition(schema))
    expect(types).toThrow(CustomTypesError)
    expect(types).toThrow(says)
    expect(types).toThrow(/^file 0: v1/)
  })

  it.for([
    [{ group: "a'; evil()" }, /spec\.group is "a'; evil\(\)"/],
    [{ names: { plural: '../x', kind: 'Thing' } }, /spec\.names\.plural is "\.\.\/x"/],
    [{ names: { plural: 'things', kind: 'Thing = {}' } }, /spec\.names\.kind/],
    [{ names: 1 }, /spec\.names is not an object/],
    [{ scope: 'Planet' }, /spec\.scope is "Planet"/],
    [{ versions: {} }, /spec\.versions is not a list/],
    [{ versions: [{ name: '*/', served: true }] }, /spec\.versions\.name/],
    [{ versions: [{ name: 'v1', served: false }] }, /no definition serves a kind/],
  ] as const)('are refused for names that are none: %j', ([spec, says]) => {
    expect(() => typesOf(definition(object({}), spec))).toThrow(says)
    expect(() => typesOf('text')).toThrow(/file 0: spec is not an object/)
  })
})

describe('The command that writes types', () => {
  const program = { name: 'program', importFrom: 'somewhere', print: (): void => {} }

  it.for([
    [[], 'USAGE', /give either --crd or --cluster/],
    [['--crd', 'a', '--cluster'], 'USAGE', /give either --crd or --cluster/],
    [['--crd', 'a', '--context', 'b'], 'USAGE', /go with --cluster/],
    [['--crd', 'a', '--check'], 'USAGE', /--check needs the file/],
    [['--crds', 'a'], 'USAGE', /--crds/],
    [['a'], 'USAGE', /"a" is not an option/],
    [['--crd', '/not-there.yaml'], 'CUSTOM_TYPES', /not-there\.yaml: ENOENT/],
    [['--crd', 'package.json'], 'CUSTOM_TYPES', /no definition serves a kind/],
    [
      ['--crd', 'examples/scenario/cluster/ovens.yaml', '--out', '/not/there.ts'],
      'CUSTOM_TYPES',
      /not\/there\.ts: ENOENT/,
    ],
    [['--crd', 'README.md'], 'CUSTOM_TYPES', /^README\.md: /],
    [['--cluster', '--kubeconfig', '/not-there'], 'KUBECONFIG_MISSING', /not-there/],
  ] as const)('says what is wrong with %j', async ([args, code, says]) => {
    const failure = typesCommand(args, program)
    await expect(failure).rejects.toThrow(says)
    await expect(failure).rejects.toMatchObject({ code })
  })
})
