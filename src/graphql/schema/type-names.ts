/*
 * The names of nested types, each assigned once. Kinds win over nested types. A definition of Kubernetes itself has one
 * name for all groups; any other definition has a name for each group, with the group's prefix; a schema without a name
 * is named after its place. A taken or reserved name gets a trailing `_`.
 */

import { compareVersions } from '../../kubernetes/version-priority.ts'
import { capitalised } from '../../lib/letter-case.ts'
import { prefixOfGroup, type GroupAliases } from '../naming/api-groups.ts'
import { graphqlNameOf } from '../naming/field-name.ts'
import { nestedTypeName, nestedTypeNameByPath, splitDefinitionName } from '../naming/nested-name.ts'
import { unreservedTypeName } from '../naming/reserved-names.ts'
import type { Definitions } from '../model/definitions.ts'

export class TypeNames {
  readonly #definitions: Definitions
  readonly #aliases: GroupAliases
  readonly #taken: Set<string>
  readonly #ofDefinitions = new Map<string, string>()

  /** `kinds` are the type names of all kinds, which win over nested types. */
  constructor(definitions: Definitions, aliases: GroupAliases, kinds: Iterable<string>) {
    this.#definitions = definitions
    this.#aliases = aliases
    this.#taken = new Set(kinds)
  }

  /** The name of a definition that a kind of `group` refers to. */
  nameOfDefinition(definition: string, group: string): string {
    const { builtIn } = splitDefinitionName(definition)
    const key = builtIn ? definition : `${group}/${definition}`
    let name = this.#ofDefinitions.get(key)
    if (name === undefined) {
      name = this.#claim(
        builtIn ? this.#builtInName(definition) : this.#foreignName(definition, group),
      )
      this.#ofDefinitions.set(key, name)
    }
    return name
  }

  /** A name for a schema without a name, after its place. */
  claimByPath(parent: string, property: string): string {
    return this.#claim(nestedTypeNameByPath(parent, property))
  }

  /** A name for a type of the gateway: `CounterEntry`. */
  claimOwn(name: string): string {
    return this.#claim(name)
  }

  #foreignName(definition: string, group: string): string {
    const { name } = splitDefinitionName(definition)
    const prefix = prefixOfGroup(group, this.#aliases)
    if (prefix === '') return nestedTypeName(group.split('.', 1)[0] ?? '', name, [])
    return `${prefix}${graphqlNameOf(capitalised(name))}`
  }

  /** The highest version of a group has the bare name; the names of lower versions end in the version. */
  #builtInName(definition: string): string {
    const { label, name, version } = splitDefinitionName(definition)
    const namesakes = this.#definitions.namesakes(name).map(splitDefinitionName)
    const bare = nestedTypeName(
      label,
      name,
      namesakes.map((one) => one.label),
    )
    const versions = namesakes.filter((one) => one.label === label).map((one) => one.version)
    const [highest] = versions.toSorted(compareVersions)
    return highest === undefined || highest === version ? bare : `${bare}${capitalised(version)}`
  }

  #claim(name: string): string {
    let free = unreservedTypeName(name)
    while (this.#taken.has(free)) free = `${free}_`
    this.#taken.add(free)
    return free
  }
}
