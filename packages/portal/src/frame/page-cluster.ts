import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useCounts } from '../gateway/counts.ts'

/**
 * Puts the cluster of a page's object into the address, if the address names others only: it may be a link that
 * somebody sent, or one of the search's latest. Does nothing until the cluster is known.
 */
export function usePageCluster(cluster: string | undefined): void {
  const { all, clusters } = useCounts()
  const isOutside =
    cluster !== undefined && all !== undefined && clusters.every(({ name }) => name !== cluster)
  const navigate = useNavigate()
  useEffect(() => {
    if (!isOutside) return
    void navigate({
      to: '.',
      // Namespaces of another cluster are others, even of the same name.
      search: (search: Readonly<Record<string, unknown>>) => ({
        ...search,
        cluster,
        ns: undefined,
      }),
      state: true,
      replace: true,
    } as never)
  }, [cluster, isOutside, navigate])
}
