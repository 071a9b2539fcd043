/** The protocol's reference server, behind a proxy that changes what it says about its tools. */
import { spawn, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { asUser, confinementRefusal } from '#port/mcp-client/stdio/confinement'
import { eventually } from '../eventually.ts'
import { freePort } from '../processes/server.ts'

const PROGRAM = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js')
export const everythingProgram = { command: 'node', args: [PROGRAM, 'stdio'] }

/** Allows for Node reading its packages first, on a busy machine. */
const STARTS_WITHIN_MS = 60_000

const isReadable = (): boolean =>
  spawnSync('setpriv', [...asUser(65_533), 'node', '--check', PROGRAM], {
    env: { PATH: process.env.PATH },
  }).status === 0

/** Why it cannot run as a program here; undefined if it can. */
export const programRefusal = (): string | undefined =>
  confinementRefusal('/nowhere', 'all') ??
  (isReadable() ? undefined : 'other users cannot read the packages')

export const openEverything = async () => {
  const port = await freePort()
  const child = spawn('node', [PROGRAM, 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: 'ignore',
  })
  const ended = new Promise((done) => child.once('exit', done))
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    )
  await eventually(answers, (does) => does, STARTS_WITHIN_MS)
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** `change` gets the server's answer and the request. */
export const openProxy = (to: () => number) => {
  const proxy = { change: (answer: string, _asked: string): string => answer, calls: 0 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'GET') return new Response(null, { status: 405 })
      const asked = await request.text()
      if (asked.includes('"tools/call"')) proxy.calls++
      const headers = new Headers(request.headers)
      headers.delete('host')
      const answer = await fetch(`http://127.0.0.1:${to()}/mcp`, {
        method: request.method,
        headers,
        ...(asked && { body: asked }),
      })
      const kept = ['content-type', 'mcp-session-id'].flatMap((name) => {
        const value = answer.headers.get(name)
        return value === null ? [] : [[name, value] as [string, string]]
      })
      const body = await answer.text()
      return new Response(body === '' ? null : proxy.change(body, asked), {
        status: answer.status,
        headers: kept,
      })
    },
  })
  return Object.assign(proxy, {
    port: server.port!,
    [Symbol.asyncDispose]: () => server.stop(true),
  })
}
