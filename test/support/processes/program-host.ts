/** Starts a program as a server does, prints its user id, and waits to be killed. */
import { startProgram } from '#port/mcp-client/stdio/supervisor'

const [command = '', ...args] = process.argv.slice(2)
const program = startProgram({ command, args, env: {}, confinement: 'all' })
program.stdout.on('data', (bytes: Buffer) => process.stdout.write(`${program.uid} ${bytes}`))
setInterval(() => {}, 60_000)
