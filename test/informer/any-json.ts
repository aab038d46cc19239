/** A choice among many, by a seeded generator. */
type Random = () => number

function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)] as T
}

/** As deep as an API server lets a custom resource be. */
const levels = 10_000

const deep = (open: string, leaf: string, close: string): string =>
  open.repeat(levels) + leaf + close.repeat(levels)

/** JSON texts that no member of an object's metadata should have, and that JSON allows anywhere. */
const anything: readonly string[] = [
  'null',
  'true',
  '0',
  '-1.5e300',
  '12345678901234567890',
  '""',
  '"text"',
  '"\\u0000\\ud800"',
  '[]',
  '[null]',
  '["a",5,null,{}]',
  '[[[]]]',
  '[{"uid":5},{"uid":null},{},null,"x",{"uid":"owner"}]',
  '{}',
  '{"":null}',
  '{"a":null,"b":5,"c":{},"d":[],"e":"f"}',
  '{"a,b":"1"}',
  '{"a":"1","b":"2"}',
  '{"__proto__":"x","constructor":"y","toString":null,"hasOwnProperty":1}',
  '{"__proto__":{"uid":"z"}}',
  '{"length":3,"size":-1,"value":{}}',
  `{"${'k'.repeat(100_000)}":"v"}`,
  `{"k":"${'v'.repeat(100_000)}"}`,
  deep('[', 'null', ']'),
  deep('[', '12345678901234567890', ']'),
  deep('{"a":', '"x"', '}'),
]

const members = [
  'uid',
  'resourceVersion',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'generation',
  'generateName',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'selfLink',
  '__proto__',
]

/** The JSON of a config map of this name; in its metadata, and beside it, anything. */
export function anyObject(name: string, random: Random): string {
  const metadata = members.flatMap((member) =>
    random() < 0.25 ? [`"${member}":${pick(anything, random)}`] : [],
  )
  metadata.splice(Math.floor(random() * metadata.length), 0, `"name":"${name}"`)
  metadata.push('"namespace":"default"')
  const data = random() < 0.5 ? '' : `,"data":${pick(anything, random)}`
  return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{${metadata.join()}}${data}}`
}

/** The JSON of an object that has no key, or is of no kind that anybody asked for: it is to be dropped. */
export function nobodysObject(random: Random): string {
  const name = pick(['null', '5', '""', '[]', '{}', 'true'], random)
  const namespace = pick(['null', '5', '[]', '{}', deep('[', '', ']')], random)
  return pick(
    [
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":${name}}}`,
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","namespace":${namespace}}}`,
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":${pick(['null', '5', '[]', '"x"', '{}'], random)}}`,
      `{"apiVersion":"v1","kind":${pick(anything, random)},"metadata":{"name":"n"}}`,
      `{"apiVersion":${pick(anything, random)},"kind":"ConfigMap","metadata":{"name":"n"}}`,
    ],
    random,
  )
}

/** The JSON of a Status in which nothing is what it should be. */
export function anyStatus(random: Random): string {
  const one = (): string => pick(anything, random)
  const code = pick(['410', '429', '500', '"410"', 'null', '{}'], random)
  return `{"kind":"Status","code":${code},"message":${one()},"reason":${one()},"details":${pick(
    [one(), `{"causes":${one()}}`, `{"causes":[null,5,{"reason":${one()},"message":${one()}}]}`],
    random,
  )}}`
}
