import type { FieldCase, Form } from './field-case.ts'
import { all, at, targetName } from './form.ts'
import { link, type LinkForms } from './link.ts'

/** Whom a label selector selects. */
export function selection(
  from: string,
  to: string,
  path: string,
  rest: Partial<LinkForms> = {},
): FieldCase {
  const labels = (value: object): Form => at(path, value)
  const isAlso = { key: 'also', operator: 'In', values: ['yes', 'maybe'] }
  return link(from, to, {
    target: at('metadata.labels', { rel: targetName, also: 'yes' }),
    meant: [
      labels({ matchLabels: { rel: targetName } }),
      labels({
        matchLabels: { rel: targetName },
        matchExpressions: [isAlso, { key: 'absent', operator: 'DoesNotExist' }],
      }),
    ],
    missed: [
      labels({ matchLabels: { rel: targetName, also: 'no' } }),
      labels({
        matchLabels: { rel: targetName },
        matchExpressions: [{ ...isAlso, operator: 'NotIn' }],
      }),
    ],
    ...rest,
  })
}

/** Whom a selector of the monitoring operator takes: of its own namespace, or of those with labels; with empty ones all. */
export function taken(from: string, to: string, name: string): readonly FieldCase[] {
  const [selector, namespaces] = [`spec.${name}Selector`, `spec.${name}NamespaceSelector`]
  const own = at(`${selector}.matchLabels.rel`)
  const near = selection(from, to, selector)
  const far = link(from, to, {
    target: at('metadata.labels.rel'),
    meant: [],
    abroad: [all(own, at(`${namespaces}.matchLabels.is`, '<there>'))],
    missed: [all(own, at(`${namespaces}.matchLabels.is`, 'nowhere')), at(namespaces, {})],
  })
  return [
    near,
    {
      ...far,
      objects: [...far.objects, ['Namespace <there>', at('metadata.labels.is', '<there>')]],
    },
    link(from, to, {
      target: at('metadata.labels.rel'),
      meant: [],
      everything: [all(at(selector, {}))],
    }),
  ]
}
