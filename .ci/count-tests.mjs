// count-tests.mjs REPORT: the files with failed tests, one a line.
// count-tests.mjs REPORT AGAIN STATUS FAILED_STEPS: the last line of a run, after what passed only when its file was run again.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [report, again, status, failedSteps] = process.argv.slice(2)
const filesOf = (path) =>
  existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).testResults : []
const fileOf = ({ name }) => relative('', name)
const failuresOf = ({ assertionResults }) =>
  assertionResults.filter((test) => test.status === 'failed')

const first = filesOf(report)
const failed = first.filter((file) => file.status === 'failed')
if (again === undefined) {
  for (const file of failed) console.log(fileOf(file))
} else {
  const repeated = new Map(filesOf(again).map((file) => [fileOf(file), file]))
  for (const file of failed) {
    const failures = new Set(
      failuresOf(repeated.get(fileOf(file)) ?? file).map(({ fullName }) => fullName),
    )
    for (const { fullName } of failuresOf(file)) {
      if (failures.has(fullName)) continue
      console.log(
        `failed at first, passed when its file was run again: ${fileOf(file)}: ${fullName}`,
      )
    }
  }
  const last = first.map((file) => repeated.get(fileOf(file)) ?? file)
  const count = (...states) =>
    last
      .flatMap(({ assertionResults }) => assertionResults)
      .filter((test) => states.includes(test.status)).length
  // A file that could not even be loaded has failed, and holds no test that did.
  const unloaded = last.filter(
    (file) => file.status === 'failed' && failuresOf(file).length === 0,
  ).length
  // Where the run failed and no test did, something outside the tests did.
  const failures = count('failed') + unloaded || Number(status !== '0')
  const skipped = count('pending', 'skipped', 'todo')
  console.log(
    `${count('passed')} passed, ${failures + Number(failedSteps)} failed, ${skipped} skipped`,
  )
}
