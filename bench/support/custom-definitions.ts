/** CustomResourceDefinitions as operators bring them: some hundred fields each, most of them with a description. */

type Schema = Readonly<Record<string, unknown>>

const described = (name: string, schema: Schema): Schema => ({
  description: `${name} is what the controller of this kind wants to know before it does what it has been made for.`,
  ...schema,
})

const scalars: readonly Schema[] = [
  { type: 'string' },
  { type: 'integer', format: 'int32' },
  { type: 'boolean' },
  { type: 'string', format: 'date-time' },
  { type: 'array', items: { type: 'string' } },
  { type: 'object', additionalProperties: { type: 'string' } },
]

/** An object of so many levels: eight scalars, and below each level an object and a list of objects. */
function nested(depth: number, name: string): Schema {
  const properties: Record<string, Schema> = {}
  for (let at = 0; at < 8; at += 1) {
    properties[`${name}${at}`] = described(`${name}${at}`, scalars[at % scalars.length] ?? {})
  }
  if (depth > 1) {
    properties['template'] = described('template', nested(depth - 1, 'setting'))
    properties['rules'] = described('rules', { type: 'array', items: nested(depth - 1, 'rule') })
  }
  return { type: 'object', properties }
}

/** The definition of a number; ten share a group. `generation` makes another schema of it. */
export function customDefinition(number: number, generation: number = 0): object {
  const group = `group${Math.floor(number / 10)}.bench.example.com`
  const plural = `widget${number}s`
  const spec = nested(4, generation === 0 ? 'field' : `field${generation}`)
  const conditions = { type: 'array', items: nested(1, 'condition') }
  const schema = { type: 'object', properties: { spec, status: nested(2, 'state'), conditions } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        plural,
        singular: `widget${number}`,
        kind: `Widget${number}`,
        listKind: `Widget${number}List`,
      },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
}
