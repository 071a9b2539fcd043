/** Follows a page of the documentation as a reader does: in bash, with a server and a workspace. */
import { chmod, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { scopes } from '#kernel/scopes'
import { eventually } from '../eventually.ts'
import { temporaryFolder } from '../folder.ts'
import { PASSWORD } from '../people.ts'
import { mainProgram } from '../processes/bundle.ts'
import {
  environmentOf,
  freePort,
  newDeployment,
  runAdmin,
  type ServerOptions,
  type ServerProcess,
  startServer,
} from '../processes/server.ts'
import { isAsPromised, promisesOf, scriptOf } from './page.ts'

/** For one page, with its shell and its server. */
export const WALKED_WITHIN_MS = 180_000
const SHELL_WITHIN_MS = 150_000

/** Where things are, as the pages write it. */
const ADDRESS = 'localhost:7070'
const RECEIVER_PORT = '8090'

const DRIVER = join(import.meta.dir, './walk.sh')
const DONE = /<<(\d+) (\d+) (\d+) (\d+)>>\n/
const DEVICE_CODE = /enter the code\s+([A-Z]{4}-[A-Z]{4})/g

/** Owns a new workspace with the sandbox: follows the start link, and approves devices. */
const newOwner = async ({ server, options }: Place) => {
  const post = async (path: string, body: object, headers = {}) => {
    const answer = await fetch(`${server.url}/api/v1/app/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as { session: { access_token: string }; api_key: string }
  }
  const { out } = await runAdmin(options, 'tenant', 'create', '--name', 'My workspace', '--sandbox')
  const accept = () =>
    post('invitations/accept', {
      token: /join\?token=([\w-]+)/.exec(out)![1],
      name: 'Ada',
      email: 'ada@example.com',
      password: PASSWORD,
      delivery: 'body',
    })
  // A busy machine may refuse it for the moment.
  const { session } = await eventually(accept, (answer) => answer.session !== undefined)
  const authorization = `Bearer ${session.access_token}`
  const ofFirstStart = { name: 'first start', scopes, belongs_to: 'workspace' }
  return {
    key: (await post('keys', ofFirstStart, { authorization })).api_key,
    approve: (code: string) =>
      post('device', { user_code: code, decision: 'approve' }, { authorization }),
  }
}

const executable = async (path: string, text: string): Promise<void> => {
  await Bun.write(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
}

/** The PATH of a clone. `npm run -s admin` is replaced, to avoid starting from the sources. */
const installIn = async (bin: string, commandLine: string): Promise<void> => {
  await mkdir(bin)
  await symlink(commandLine, join(bin, 'tendril'))
  const admin = `shift 4 && exec '${process.execPath}' '${await mainProgram()}' admin "$@"`
  await executable(join(bin, 'npm'), `test "$1 $2 $3 $4" = 'run -s admin --' && ${admin}`)
  await executable(join(bin, 'xdg-open'), 'true')
}

/** Which of a page's commands differ from the page, judging by everything that they printed. */
const faultsIn = (page: string, transcript: string, exitCode: number): string[] => {
  const promises = promisesOf(page)
  const lines = page.split('\n')
  const faults: string[] = []
  let rest = transcript
  for (let done = DONE.exec(rest); done; done = DONE.exec(rest)) {
    const printed = rest.slice(0, done.index)
    rest = rest.slice(done.index + done[0].length)
    const [from = 0, to = 0, code, wanted] = done.slice(1).map(Number)
    const promised = promises.get(to)
    promises.delete(to)
    const command = `line ${from + 1}: ${lines.slice(from, to + 1).join('\n')}`
    if (code !== wanted) faults.push(`${command}\nexited with ${code}:\n${printed}`)
    else if (promised !== undefined && !isAsPromised(promised, printed))
      faults.push(`${command}\nprinted, in the place of ${promised}:\n${printed}`)
  }
  if (faults.length > 0) return faults
  if (exitCode !== 0 || rest !== '') return [`the shell ended with ${exitCode}: ${rest}`]
  return [...promises].map(([at, promised]) => `line ${at + 1}: no command prints ${promised}`)
}

const shellIn = (path: string, key: string, { server, options }: Place) => {
  const program = `trap 'kill $(jobs -p) 2>&-' EXIT; . '${DRIVER}' '${path}/script' 2>&1`
  return Bun.spawn(['bash', '-c', program], {
    cwd: join(path, 'work'),
    env: {
      ...environmentOf(options, 0),
      PATH: `${join(path, 'bin')}:${process.env.PATH}`,
      HOME: path,
      TENDRIL_API_URL: server.url,
      KEY: key,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: SHELL_WITHIN_MS,
  })
}

/** Where pages are followed: one server, with a workspace for each page. */
export interface Place {
  server: ServerProcess
  options: ServerOptions
  /** The port to which the server may send webhooks, although it is not public. */
  receiverPort: string
  /** The path of the command line. */
  commandLine: string
}

export const openPlace = async (commandLine: string): Promise<Place & AsyncDisposable> => {
  await using stack = new AsyncDisposableStack()
  const deployment = stack.use(await newDeployment())
  const receiverPort = String(await freePort())
  const env = { EGRESS_ALLOW: `localhost:${receiverPort}` }
  const server = stack.use(await startServer({ ...deployment.server, env }))
  const owned = stack.move()
  const dispose = () => owned.disposeAsync()
  return {
    server,
    options: deployment.server,
    receiverPort,
    commandLine,
    [Symbol.asyncDispose]: dispose,
  }
}

/** Runs the commands of a page in a new workspace, and resolves with the differences. */
export const walk = async (page: string, place: Place): Promise<string[]> => {
  const { server, receiverPort, commandLine } = place
  await using folder = await temporaryFolder()
  const { path } = folder
  const owner = await newOwner(place)
  await installIn(join(path, 'bin'), commandLine)
  await mkdir(join(path, 'work'))
  const { host } = new URL(server.url)
  const script = scriptOf(page).replaceAll(ADDRESS, host).replaceAll(RECEIVER_PORT, receiverPort)
  await Bun.write(join(path, 'script'), script)
  const shell = shellIn(path, owner.key, place)
  let transcript = ''
  const approved = new Set<string>()
  for await (const printed of shell.stdout.pipeThrough(new TextDecoderStream())) {
    transcript += printed
    for (const [, code = ''] of transcript.matchAll(DEVICE_CODE)) {
      if (!approved.has(code)) await owner.approve(code)
      approved.add(code)
    }
  }
  return faultsIn(page, transcript, await shell.exited)
}
