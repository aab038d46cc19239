// Imports internals: a program that only its test starts.
/*
 * Writes into an archive for ever, and prints a line of JSON each 50 ms: `node writer.ts URL PAUSE_MS BYTES`. What it writes follows
 * from the version alone (`stateAt`), so that whoever reads the archive knows what has to be in it. When it is behind, it
 * writes a whole list, as the gateway does.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openArchive } from '../../../../src/archive/archive.ts'
import { batchOf, configMaps, listOf } from '../batches.ts'
import { changeAt, stateAt } from './written-states.ts'

const [url = '', pauseMs = '0', bytes = '10'] = process.argv.slice(2)
const archive = await openArchive({ url }, (warning) => console.error(warning))
const { id, position } = await archive.kind(configMaps)
let sent = Number(position ?? 0)
let written = sent
let isBehind = position === undefined
const writing = new Set<number>()

setInterval(() => {
  const { problem, dropped, lagMs } = archive.counts()
  const { rss } = process.memoryUsage()
  const says = { written, sent, dropped, lagMs, rss, isBehind, problem: problem?.message }
  console.log(JSON.stringify(says))
}, 50)

for (;;) {
  // As the gateway: some batches at once, and more if nothing is answered.
  if (pauseMs === '0') while (writing.size > 20) await sleep(1)
  else await sleep(Number(pauseMs))
  sent += 1
  // What happens meanwhile is in the list that comes next.
  if (isBehind && writing.size > 0) continue
  const version = sent
  const namespaces = { default: `${version}` }
  const batch = isBehind
    ? listOf(id, stateAt(version, Number(bytes)), { position: `${version}`, namespaces })
    : batchOf(id, [changeAt(version, Number(bytes))], { namespaces })
  isBehind = false
  writing.add(version)
  archive
    .write(batch)
    .then(
      () => (written = version),
      () => (isBehind = true),
    )
    .finally(() => writing.delete(version))
}
