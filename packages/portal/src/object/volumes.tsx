import type { SeenObject } from './live-object.ts'
import { podSpecOf } from './container-state.ts'
import { pageWords } from './page-words.ts'
import { volumesOf } from './pod-config.ts'
import { RefLink } from './ref-link.tsx'
import { Fold } from './section.tsx'
import styles from './summary.module.css'

/** The volumes of a pod or of a pod template: what they are made of, and where containers have them. */
export function Volumes({ object }: { readonly object: SeenObject }) {
  const { json, clusterName: cluster, namespace } = object
  const volumes = volumesOf(podSpecOf(json))
  if (volumes.length === 0) return null
  const say = pageWords.volumes
  return (
    <Fold title={say.title} count={volumes.length}>
      <dl className={styles['members']}>
        {volumes.map(({ name, sources, mounts }) => (
          <div key={name} className={styles['member']}>
            <dt title={name}>{name}</dt>
            <dd data-whole>
              {sources.map(({ text, ref }, position) => (
                <span key={`${position} ${text}`} className={styles['given']}>
                  {text}
                  {ref === undefined ? null : (
                    <>
                      {' '}
                      <RefLink
                        cluster={cluster}
                        reference={{
                          apiVersion: 'v1',
                          ...ref,
                          ...(namespace === null ? {} : { namespace }),
                        }}
                      />
                    </>
                  )}
                </span>
              ))}
              <span className={styles['dim']}>
                {mounts.length === 0 ? say.unmounted : mounts.join('; ')}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </Fold>
  )
}
