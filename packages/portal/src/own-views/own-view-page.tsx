import { useParams } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { NotFound } from '../frame/not-found.tsx'
import { useViewTitle } from '../frame/view-title.ts'
import { tokenGiven } from '../gateway/credentials.ts'
import { pageGateway } from '../gateway/page-gateway.ts'
import { refused } from '../gateway/session.ts'
import { Failure } from '../look/notice.tsx'
import { usePlace } from '../scope.ts'
import { words } from '../words.ts'
import styles from './own-view-page.module.css'
import { type OwnView, useOwnViews } from './own-views.ts'

/** A view that the operator of the gateway has added. */
export function OwnViewPage() {
  const { name } = useParams({ from: '/views/$name' })
  const views = useOwnViews()
  const view = views?.find((one) => one.name === name)
  if (view !== undefined) return <Shown key={name} view={view} />
  return views === undefined ? null : <NotFound />
}

function Shown({ view: { name, title, style, mount, error } }: { readonly view: OwnView }) {
  const element = useRef<HTMLDivElement>(null)
  const place = usePlace()
  useViewTitle(title)
  useEffect(() => {
    if (element.current === null || mount === undefined) return
    const { scope, hrefOf, open } = place
    // A new element for each time: the one before may still be emptied.
    const own = document.createElement('div')
    own.className = styles['place'] ?? ''
    element.current.append(own)
    const remove = mount(own, {
      ...scope,
      url: pageGateway.url,
      token: tokenGiven,
      onRefused: () => void refused(),
      hrefOf,
      open,
    })
    return () => {
      remove()
      own.remove()
    }
  }, [mount, place])
  return (
    <>
      {style === undefined ? null : <link rel="stylesheet" href={style} precedence="default" />}
      <h1 className="visually-hidden">{title}</h1>
      {error === undefined ? (
        <div ref={element} className={styles['place']} />
      ) : (
        <Failure errors={[error]} title={words.frame.viewFailed(name)} />
      )}
    </>
  )
}
