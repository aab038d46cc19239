import { CountsDocument } from './documents.ts'
import { useAnswer } from './gateway.ts'
import { useScope } from '../scope.ts'

export interface Kind {
  readonly path: string
  readonly title: string
  readonly type: string
  readonly kind: string
  readonly group: string
  readonly resource: string
  readonly namespaced: boolean
}
const groups: Record<string, string> = {
  Deployment: 'apps',
  StatefulSet: 'apps',
  DaemonSet: 'apps',
  ReplicaSet: 'apps',
  Job: 'batch',
  CronJob: 'batch',
  Ingress: 'networking.k8s.io',
  HorizontalPodAutoscaler: 'autoscaling',
}
export function useKinds(): { readonly kinds: readonly Kind[]; readonly isPending: boolean } {
  const { scope } = useScope()
  const { data, isPending } = useAnswer(CountsDocument, {}, { everyMs: 3_000 })
  const clusters = data?.gatewayClusters ?? undefined
  const cluster = clusters?.find(
    ({ name }) => scope.cluster === undefined || name === scope.cluster,
  )
  return {
    isPending,
    kinds:
      cluster?.resources.map(({ type }) => {
        const resource = type.toLowerCase().replace(/y$/, 'ie').replace(/ss$/, 'sse') + 's'
        const group = groups[type] ?? ''
        return {
          path: group === '' ? resource : `${resource}.${group}`,
          title: type + 's',
          type,
          kind: type,
          group,
          resource,
          namespaced: true,
        }
      }) ?? [],
  }
}
