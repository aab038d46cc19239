import { EditorView } from '@codemirror/view'
import { useBlocker, useSearch } from '@tanstack/react-router'
import { type DragEvent, useEffect, useMemo, useRef, useState } from 'react'
import { draftOf, keepDraft } from '../edit/draft.ts'
import type { Problem } from '../edit/edited-text.ts'
import { TextEditor } from '../edit/text-editor.ts'
import editStyles from '../edit/yaml-edit.module.css'
import { NamePicker } from '../frame/name-picker.tsx'
import { useViewTitle } from '../frame/view-title.ts'
import { WritesDocument } from '../gateway/documents.ts'
import { useAnswer, useGateway } from '../gateway/gateway.ts'
import { useKinds } from '../gateway/kinds.ts'
import { useNamespaces } from '../gateway/viewer.ts'
import controls from '../look/controls.module.css'
import { Failure, Notice } from '../look/notice.tsx'
import yamlStyles from '../object/yaml-tab.module.css'
import { hasSeveralClusters, inScope, useScope } from '../scope.ts'
import { words } from '../words.ts'
import { ApplyRun, linesOf, type Progress } from './apply-run.ts'
import { checkedByCluster } from './cluster-check.ts'
import { completions } from './completion.ts'
import { createWords as say } from './create-words.ts'
import styles from './create.module.css'
import { KindFields } from './kind-fields.ts'
import { ManifestReader, maxCharacters, type Reading } from './manifest-text.ts'
import { OutcomeList } from './outcome-list.tsx'
import { checkedBySchema } from './schema-check.ts'
import { TemplateMenu } from './template-menu.tsx'
import { isOfTemplates, textFor } from './templates.ts'

/** The page that creates and applies objects from YAML: `/create?kind=deployments.apps`. */
export function CreatePage() {
  useViewTitle(words.frame.create)
  const { data, errors, isPending } = useAnswer(WritesDocument, {})
  const { kinds, byPath, isPending: isAsking } = useKinds()
  const { kind = '' } = useSearch({ from: '/create' })
  const { scope } = useScope()
  const clusters = (data?.gatewayClusters ?? []).filter(({ writable }) => writable)
  if (isPending || isAsking) return <div aria-busy="true" />
  if (errors.length > 0) return <Failure errors={errors} isView />
  if (clusters.length === 0) {
    return (
      <Notice title={say.noWrites} isView>
        <p>{say.noWritesNext}</p>
      </Notice>
    )
  }
  return (
    <Create
      key={kind}
      all={clusters.map(({ name }) => name)}
      inView={inScope(data?.gatewayClusters ?? [], scope).map(({ name }) => name)}
      kinds={kinds}
      begin={kind === '' ? '' : textFor(kind, byPath.get(kind))}
    />
  )
}

/** The draft of the page, for this tab. */
const draftId = 'create'
/** How long one rests from typing before the text is read and checked. */
const restMs = 400
/** Documents in all clusters together. */
const mostJobs = 500
/** Documents that are checked while one types. */
const mostChecked = 50

function Create({
  all,
  inView,
  kinds,
  begin,
}: {
  /** The clusters that can be written. */
  readonly all: readonly string[]
  /** The clusters in scope, whose kinds and namespaces are known. */
  readonly inView: readonly string[]
  readonly kinds: ReturnType<typeof useKinds>['kinds']
  /** The text to begin with. */
  readonly begin: string
}) {
  const gateway = useGateway()
  const { scope } = useScope()
  const { names, isPending: isAskingNames } = useNamespaces()
  const [draft] = useState(() => keptText(begin))
  const [text, setText] = useState(() => withBegin(draft, begin))
  const [clusters, setClusters] = useState(() => firstClusters(all, scope))
  const inScopeNow = scope.clusters?.join() ?? ''
  const wasInScope = useRef(inScopeNow)
  useEffect(() => {
    if (wasInScope.current === inScopeNow) return
    wasInScope.current = inScopeNow
    setClusters(firstClusters(all, scope))
    // Who chooses clusters for the page chooses them for its text.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [inScopeNow])
  const [namespace, setNamespace] = useState(() =>
    scope.namespaces?.length === 1 ? (scope.namespaces[0] ?? '') : 'default',
  )
  const [reading, setReading] = useState<Reading>()
  const [checks, setChecks] = useState<readonly Problem[]>([])
  const [progress, setProgress] = useState<Progress>()
  const [refusal, setRefusal] = useState<string>()
  const [isOver, setOver] = useState(false)
  /** The text that was cleared last. */
  const [cleared, setCleared] = useState('')
  const run = useRef<ApplyRun>(undefined)
  const asking = useRef<AbortController>(undefined)
  const place = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLElement>(null)
  const editor = useRef<TextEditor>(undefined)
  const submit = useRef(() => {})
  const reader = useMemo(() => new ManifestReader(), [])
  const fields = useMemo(() => new KindFields(gateway), [gateway])
  const where = useRef({ cluster: clusters[0], namespace, kinds })
  where.current = { cluster: clusters[0], namespace, kinds }
  const isKnown =
    names.length > 0 && !isAskingNames && clusters.every((one) => inView.includes(one))
  const knownNames = isKnown ? names.join('\n') : ''

  useEffect(() => {
    if (place.current === null) return
    editor.current = new TextEditor(place.current, text, {
      label: say.label,
      changed(next) {
        // What was reviewed is not applied to another text, not even in the moment before the page is drawn.
        leave()
        setText(next)
      },
      submit: () => submit.current(),
      further: [
        completions(fields, () => where.current),
        EditorView.domEventHandlers({
          paste({ clipboardData }) {
            const pasted = clipboardData?.getData('text/plain') ?? ''
            if (!isManifest(pasted) || !isOfTemplates(editor.current?.text ?? '')) return false
            add(pasted)
            return true
          },
        }),
      ],
    })
    editor.current.view.focus()
    return () => editor.current?.view.destroy()
    // The editor is made once.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  const leave = (): void => {
    asking.current?.abort()
    const left = run.current
    run.current = undefined
    left?.stop()
  }
  useEffect(() => leave, [])
  useEffect(() => {
    // What was reviewed was another text, or for another place.
    leave()
    setProgress(undefined)
    setRefusal(undefined)
    editor.current?.mark([])
    const timer = setTimeout(() => keepText(text), restMs)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line react/exhaustive-deps
  }, [text, clusters, namespace])
  // What was not served may be by now.
  useEffect(() => fields.forgetUnserved(), [fields, kinds])
  useEffect(() => {
    const reads = new AbortController()
    const timer = setTimeout(() => void check(reads.signal), restMs)
    return () => {
      clearTimeout(timer)
      reads.abort()
    }
    // oxlint-disable-next-line react/exhaustive-deps
  }, [text, clusters, namespace, kinds, knownNames])

  const check = async (signal: AbortSignal): Promise<void> => {
    const read = await reader.read(text, signal)
    if (read === undefined) return
    setReading(read)
    const namespaces = knownNames === '' ? undefined : new Set(knownNames.split('\n'))
    const found = await Promise.all(
      read.documents.slice(0, mostChecked).flatMap((document) => {
        const { apiVersion, kind, namespace: own = namespace } = document
        const of = { apiVersion, kind, cluster: clusters[0], namespace: own }
        const bySchema = checkedBySchema(document, of, fields)
        return of.cluster === undefined
          ? [bySchema]
          : [
              checkedByCluster(document, of, read.documents, { fields, kinds, namespaces }),
              bySchema,
            ]
      }),
    )
    if (signal.aborted) return
    setChecks(found.flat())
    const wrong = [...read.problems, ...found.flat()]
    // The marks of a review are those of what was refused.
    if (run.current !== undefined) return
    editor.current?.mark(wrong.flatMap(({ line }) => line ?? []))
  }

  const review = async (): Promise<void> => {
    leave()
    if (clusters.length === 0) {
      setRefusal(say.noneChosen)
      return
    }
    // The page may ask for a sign-in before the text has rested.
    keepText(text)
    asking.current = new AbortController()
    // The text may become another one while it is read.
    const read = await reader.read(text, asking.current.signal)
    if (read === undefined) return
    setReading(read)
    const { documents, problems } = read
    const isEmpty = documents.length === 0 && problems.length === 0
    const isTooMany = documents.length * clusters.length > mostJobs
    setRefusal(isEmpty ? say.empty : isTooMany ? say.tooMany(mostJobs) : undefined)
    const [first] = problems
    if (first?.line !== undefined) editor.current?.goTo(first.line)
    if (isEmpty || isTooMany || first !== undefined) return
    const next = new ApplyRun(gateway, {
      documents,
      clusters,
      namespace: namespace.trim() === '' ? undefined : namespace.trim(),
      isNamespaced: (document) =>
        kinds.some(
          ({ apiVersion, kind, namespaced }) =>
            namespaced && kind === document.kind && apiVersion === document.apiVersion,
        ),
    })
    run.current = next
    next.subscribe(() => {
      // What was left tells nothing any more.
      if (run.current === next) setProgress(next.getSnapshot())
    })
    await next.review()
    panel.current?.focus()
  }
  submit.current = () => void review()
  const apply = async (): Promise<void> => {
    panel.current?.focus()
    await run.current?.apply()
    panel.current?.focus()
  }
  useEffect(() => {
    if (progress === undefined) return
    const { jobs, outcomes, stage } = progress
    const lines = jobs.flatMap(({ key, document }) => {
      const outcome = outcomes.get(key)
      return outcome?.at === 'refused' || outcome?.at === 'failed'
        ? linesOf(document, outcome.errors)
        : []
    })
    editor.current?.mark(lines)
    const isDone = stage === 'over' && jobs.every(({ key }) => outcomes.get(key)?.at === 'applied')
    if (isDone) keepDraft(draftId, undefined)
  }, [progress])

  /** Adds a text, or puts it in the place of templates that are as they were. */
  const add = (more: string): void => editor.current?.add(more, isOfTemplates(editor.current.text))
  const addFiles = async (files: Iterable<File>): Promise<void> => {
    for (const file of files) {
      if (file.size > maxCharacters) setRefusal(say.notRead(file.name))
      else add(await file.text())
    }
  }
  const isApplying = progress?.stage === 'applying'
  const isBusy = progress?.stage === 'trying' || isApplying
  useBlocker({
    shouldBlockFn: () => isApplying && !confirm(say.leave),
    enableBeforeUnload: isApplying,
  })
  const problems = reading?.problems ?? []
  return (
    <div
      className={styles['page']}
      data-over={isOver || undefined}
      onDragOver={(event: DragEvent) => {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDropCapture={(event: DragEvent) => {
        if (event.dataTransfer.files.length === 0) return
        event.preventDefault()
        // Otherwise the editor takes the file, too.
        event.stopPropagation()
        setOver(false)
        void addFiles(event.dataTransfer.files)
      }}
    >
      {/* Another text would be another run. */}
      <header className={styles['top']} inert={isApplying}>
        <h1>{words.frame.create}</h1>
        <output className={styles['dim']} aria-live="off">
          {reading === undefined ? '' : say.counted(reading.documents.length)}
        </output>
        <div className={styles['tools']}>
          {all.length < 2 ? null : (
            <NamePicker
              icon="cluster"
              title={say.clusters}
              namesFor={() => all}
              chosen={clusters}
              noneLabel={say.chooseClusters}
              manyLabel={say.someClusters}
              choose={setClusters}
              find={say.findCluster}
              empty={say.noCluster}
              item={(name) => name}
            />
          )}
          <label className={styles['namespace']} title={say.namespaceHint}>
            {say.namespace}
            <input
              className={controls['field']}
              list="create-namespaces"
              value={namespace}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => setNamespace(target.value)}
            />
            <datalist id="create-namespaces">
              {names.slice(0, 500).map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
          <TemplateMenu
            choose={(template) => editor.current?.add(template.text, false)}
            next={() => editor.current?.view.contentDOM ?? null}
          />
          <label className={`${controls['button']} ${styles['file']}`}>
            {say.file}
            <input
              type="file"
              multiple
              accept=".yaml,.yml,.json"
              aria-label={say.files}
              onChange={({ target }) => {
                void addFiles([...(target.files ?? [])]).then(() => (target.value = ''))
              }}
            />
          </label>
          <button
            type="button"
            className={controls['button']}
            disabled={text === '' || isBusy}
            onClick={() => {
              setCleared(text)
              editor.current?.replace('')
              editor.current?.view.focus()
            }}
          >
            {say.clear}
          </button>
          <button
            type="button"
            className={controls['button']}
            data-kind={progress === undefined ? 'main' : undefined}
            disabled={isBusy || clusters.length === 0}
            onClick={() => void review()}
          >
            {clusters.length === 0 ? say.chooseFirst : say.review}
          </button>
        </div>
        <p className={styles['hint']} role="status">
          {cleared === '' || text !== '' ? (
            cleared === '' && draft !== '' && `${say.kept} `
          ) : (
            <>
              {say.cleared}{' '}
              <button
                type="button"
                className={styles['line']}
                onClick={() => {
                  editor.current?.replace(cleared)
                  editor.current?.view.focus()
                }}
              >
                {say.bringBack}
              </button>{' '}
            </>
          )}
          {say.hint}
        </p>
      </header>
      <div
        ref={place}
        className={`${yamlStyles['text']} ${editStyles['text']} ${styles['text']}`}
        inert={isApplying}
      />
      {isOver ? <p className={styles['drop']}>{say.drop}</p> : null}
      {problems.length + checks.length === 0 &&
      progress === undefined &&
      refusal === undefined ? null : (
        <section ref={panel} tabIndex={-1} className={styles['panel']} aria-label={say.outcome}>
          {refusal === undefined ? null : <p role="alert">{refusal}</p>}
          {progress !== undefined || problems.length + checks.length === 0 ? null : (
            <>
              <h2>{say.checks}</h2>
              <Problems
                problems={[...problems, ...checks]}
                goTo={(line) => editor.current?.goTo(line)}
              />
              {problems.length > 0 ? null : <p className={styles['dim']}>{say.checksNext}</p>}
            </>
          )}
          {progress === undefined ? null : (
            <OutcomeList
              progress={progress}
              hasSeveral={clusters.length > 1}
              tryAgain={(key, force) => void run.current?.tryAgain(key, force)}
              apply={() => void apply()}
              stop={() => run.current?.stop()}
              goTo={(line) => editor.current?.goTo(line)}
              back={() => {
                setProgress(undefined)
                editor.current?.view.focus()
              }}
            />
          )}
        </section>
      )}
    </div>
  )
}

/** Keeps the text as the draft of the page. The values of Secrets stay in the page. */
function keepText(text: string): void {
  const isKept = text.trim() !== '' && !/^\s*["']?kind["']?:\s*["']?Secret\b/m.test(text)
  keepDraft(draftId, isKept ? { base: {}, text } : undefined)
}

/** The draft, unless it is nothing but templates, and another one is asked for. */
function keptText(begin: string): string {
  const { text = '' } = draftOf(draftId) ?? {}
  return begin !== '' && isOfTemplates(text) ? '' : text
}

/** Whether a text has objects, and is not a word or a line for one. */
function isManifest(text: string): boolean {
  return /^[\s{"']*apiVersion["']?\s*:/m.test(text) && /^[\s{"']*kind["']?\s*:/m.test(text)
}

/** A draft that is kept stays, with what is asked for after it. */
function withBegin(draft: string, begin: string): string {
  if (draft.trim() === '' || draft.includes(begin)) return draft.trim() === '' ? begin : draft
  return `${draft.trimEnd()}\n---\n${begin}`
}

/** The one cluster that the view is about. Where it is about several, none: nobody writes to another one than they mean. */
function firstClusters(
  all: readonly string[],
  scope: ReturnType<typeof useScope>['scope'],
): readonly string[] {
  if (all.length < 2) return all
  if (hasSeveralClusters(scope)) return []
  const { clusters: [named] = all } = scope
  return all.filter((one) => one === named)
}

function Problems({
  problems,
  goTo,
}: {
  readonly problems: readonly Problem[]
  readonly goTo: (line: number) => void
}) {
  return (
    <ul className={styles['problems']}>
      {problems.map(({ message, line }, at) => (
        // The same may be wrong in the same line twice.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={`${at} ${message}`}>
          {line === undefined ? null : (
            <button type="button" className={styles['line']} onClick={() => goTo(line)}>
              {say.line(line)}
            </button>
          )}{' '}
          {message}
        </li>
      ))}
    </ul>
  )
}
