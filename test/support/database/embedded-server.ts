/**
 * A process that stands for a server: starts the embedded database of the given home, prints
 * `ready` and runs until it is killed. With `companion` as the second argument it first starts a
 * process that outlives it, and prints its pid.
 */
import { spawn } from 'node:child_process'
import { createLog } from '#kernel/log'
import { startEmbedded } from '#postgres/start'

const [home = '', companion] = process.argv.slice(2)

const { target } = await startEmbedded({ home, log: createLog('fatal'), durable: false })
if (companion) {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  console.log(`companion ${child.pid}`)
}
console.log(`ready ${target.database}`)
setInterval(() => {}, 60_000)
