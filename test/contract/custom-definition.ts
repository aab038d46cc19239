import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type ContractAnswer, type ContractServer, type Fields } from './contract-server.ts'

/** Where CustomResourceDefinitions are. */
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** A version of a definition with the given properties below `spec`. */
export function version(name: string, properties: object, more: object = {}): Fields {
  const spec = { type: 'object', properties }
  const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
    ...more,
  }
}

/** A definition of `Gear` in a group of its own. */
export function gears(group: string, versions: readonly object[], more: object = {}): Fields {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      versions,
      ...more,
    },
  }
}

/** Asks again until the answer is as wanted; a definition takes effect a moment after it is written. */
export async function eventually(
  server: ContractServer,
  path: string,
  holds: (answer: ContractAnswer) => boolean,
): Promise<ContractAnswer> {
  const deadline = performance.now() + 20_000
  while (performance.now() < deadline) {
    const answer = await ask(server, path)
    if (holds(answer)) return answer
    await sleep(50)
  }
  throw new Error(`${path} did not become what was awaited`)
}

/** Makes a definition and waits until its objects can be written. Answers with the path of the gears in `default`. */
export async function defineGears(
  server: ContractServer,
  group: string,
  versions: readonly Fields[],
): Promise<string> {
  const body = gears(group, versions)
  const answer = await ask(server, definitions, { method: 'POST', body })
  if (answer.status !== 201) throw new Error(answer.text)
  const path = `/apis/${group}/${versions[0].name}/namespaces/default/gears`
  await eventually(server, path, ({ status }) => status === 200)
  return path
}
