#!/usr/bin/env node
/** The program. This file runs on old versions of Node too, so that it can name the version that is needed. */
const needed = [22, 19] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `informerql: needs Node ${needed.join('.')} or later; this is ${process.version}\n`,
  )
  process.exitCode = 1
} else {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // EPIPE: the reader has closed the pipe, as in `informerql schema | head`.
    if (error.code !== 'EPIPE') throw error
  })
  const { runCommandLine } = await import('./command/command-line.ts')
  process.exitCode = await runCommandLine(process.argv.slice(2))
  // Ends the process if something, such as a forgotten connection, still keeps it alive after two seconds.
  setTimeout(() => process.exit(), 2_000).unref()
}
