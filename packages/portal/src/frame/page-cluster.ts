import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useCounts } from '../gateway/counts.ts'

/**
 * Puts the cluster of a page's object into the address: a link that somebody sent, or one of the search's latest, may
 * name another cluster, or none. Does nothing until the cluster is known.
 */
export function usePageCluster(cluster: string | undefined): void {
  const { cluster: given } = useSearch({ strict: false })
  const { clusters } = useCounts()
  const shown = given ?? clusters?.[0]?.name
  const navigate = useNavigate()
  useEffect(() => {
    if (cluster === undefined || shown === undefined || cluster === shown) return
    void navigate({
      to: '.',
      // Namespaces of another cluster are others, even of the same name.
      search: (search: Readonly<Record<string, unknown>>) => ({
        ...search,
        cluster,
        ns: undefined,
      }),
      replace: true,
    } as never)
  }, [cluster, shown, navigate])
}
