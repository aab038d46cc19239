import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { usePageCluster } from '../frame/page-cluster.ts'
import { type ObjectTab, ObjectView, tabNamed } from './object-view.tsx'

/** The page of one object: `/objects/$id?tab=events`. */
export function ObjectPage() {
  const { id } = useParams({ from: '/objects/$id' })
  const { tab } = useSearch({ from: '/objects/$id' })
  const navigate = useNavigate({ from: '/objects/$id' })
  const show = (next: ObjectTab): void => {
    void navigate({
      search: (search) => ({ ...search, tab: next === 'summary' ? undefined : next }) as never,
      replace: true,
    })
  }
  const [cluster, setCluster] = useState<string>()
  usePageCluster(cluster)
  return (
    <ObjectView key={id} id={id} tab={tabNamed(tab)} onTab={show} onCluster={setCluster} isPage />
  )
}
