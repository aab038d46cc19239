import { Menu } from '@base-ui/react/menu'
import { CopyItem, ViewMenu } from '../frame/view-menu.tsx'
import { useCounts } from '../gateway/counts.ts'
import { TablePageDocument } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import type { Kind } from '../gateway/kinds.ts'
import { readFilter, type Token, tokenText } from '../kinds/filter-text.ts'
import { headVariables } from '../kinds/use-live-rows.ts'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import type { Scope } from '../scope.ts'
import { words } from '../words.ts'
import { namesOf } from './export-objects.ts'
import { kubectlOfList, kubectlOfObjects } from './kubectl.ts'
import { type ExportSource, useExport } from './use-export.ts'

const say = words.export

/** Exports of a table, and its query as GraphQL and as kubectl. */
export function TableMenu({
  kind,
  scope,
  source,
  tokens,
  sort,
  count,
}: {
  readonly kind: Kind
  readonly scope: Scope
  readonly source: ExportSource
  readonly tokens: readonly Token[]
  readonly sort: string | undefined
  /** The objects that the table lists. */
  readonly count: number | undefined
}) {
  const gateway = useGateway()
  const { picked, list } = source
  const { begin, dismiss, isRunning, says } = useExport(source)
  const { all = [], clusters } = useCounts()
  // Where there are several, the present context of kubectl may be any of them.
  const contexts =
    clusters.length > 0 && (all.length > 1 || scope.clusters !== undefined)
      ? clusters.map(({ name }) => name)
      : scope.clusters
  const command = async (): Promise<string> => {
    if (picked.size > 0) {
      const { signal } = new AbortController()
      const names = await namesOf({ gateway, ids: [...picked], signal, told: () => {} })
      return kubectlOfObjects(kind.path, names, contexts !== undefined)
    }
    const filter = tokens.flatMap((token) => {
      const { where } = readFilter([token], kind.indexes, Date.now())
      return where === undefined ? [] : [{ text: tokenText(token), where }]
    })
    const namespaces = kind.namespaced ? scope.namespaces : null
    return kubectlOfList({ resource: kind.path, clusters: contexts, namespaces, filter, sort })
  }
  return (
    <>
      {/* Always there: screen readers tell what changes in it. */}
      <output className={says === undefined ? undefined : overlay['label']}>{says}</output>
      {says === undefined ? null : (
        <button
          type="button"
          className={controls['icon']}
          aria-label={isRunning ? say.stop : say.dismiss}
          title={isRunning ? say.stop : say.dismiss}
          onClick={dismiss}
        >
          <Icon name="close" />
        </button>
      )}
      <ViewMenu document={TablePageDocument} variables={headVariables(list)}>
        {(['csv', 'yaml', 'json'] as const).map((form) => (
          <Menu.Item
            key={form}
            className={overlay['item']}
            disabled={isRunning}
            onClick={() => begin(form)}
          >
            {say.item(say.as[form], picked.size > 0 ? picked.size : count, picked.size > 0)}
          </Menu.Item>
        ))}
        <Menu.Separator className={overlay['separator']} />
        <CopyItem label={say.copyKubectl} text={command} />
      </ViewMenu>
    </>
  )
}
