/**
 * `tendril admin …`: commands for operators, with or without a running server. Each prints one JSON
 * object.
 */
import { parseArgs } from 'node:util'
import { readConfig } from '#config/config'
import { AppError, errorTable, fail } from '#kernel/errors'
import { createLog } from '#kernel/log'
import { roles } from '#kernel/roles'
import { isScope, type Scope, scopes } from '#kernel/scopes'
import { pageOf, pageResult } from '#ops/engine/paging'
import { resetByOperator } from '#ops/operator/admin/recovery'
import {
  connectAccount,
  createKey,
  createWorkspace,
  inviteByOperator,
} from '#ops/operator/admin/workspaces'
import { joinDatabase } from '#server/database'
import { openWorkplace } from '#server/workplace'
import { revokeKey } from '#store/app/keys'
import { listTenants } from '#store/app/tenants'
import { type Db, openDb } from '#store/engine/db'
import { checkFiles } from './files.ts'
import {
  type AdminContext,
  choice,
  email,
  type Flags,
  optionalEmail,
  pageFlags,
  text,
  uuid,
} from './flags.ts'
import { getPlan, planHelp, setPlan } from './plan.ts'
import { webhookCommands, webhookHelp } from './webhook.ts'
import { listFailing, workHelp } from './work.ts'

const help = `Operators' commands. Each prints one JSON object.

Create a workspace with an API key and a sign-in link for its owner; --sandbox connects an account of the built-in network:
  tendril admin tenant create --name NAME [--sandbox] [--email OWNER]
List workspaces, newest first:
  tendril admin tenant list [--limit N] [--cursor CURSOR]
Print an invitation link; with --email, only for that address, which it verifies:
  tendril admin member invite --workspace ID --role ${roles.join('|')} [--email EMAIL]
Print a link to choose a new password, which also verifies the address:
  tendril admin person reset --email EMAIL [--id PERSON]
Create or revoke an API key:
  tendril admin key create --workspace ID --scopes ${scopes.join(',')}
  tendril admin key revoke --id ID
Try all that the server does with its S3 bucket, and say what is wrong:
  tendril admin files check
${workHelp}
${planHelp}
${webhookHelp}`

const scopeList = (flags: Flags): Scope[] =>
  text(flags, 'scopes')
    .split(',')
    .map((scope) =>
      isScope(scope)
        ? scope
        : fail('invalid_input', `no such scope: ${scope}; choose from ${scopes.join(', ')}`),
    )

/** Uses the running server's database, or opens the database for as long as the command runs. */
const withDb = async <T>(
  { config, log }: AdminContext,
  work: (db: Db) => Promise<T>,
): Promise<T> => {
  await using database = await joinDatabase(config, log)
  await using db = openDb({ ...database.options, max: 1 })
  return await work(db)
}

const createTenant = async ({ config, log }: AdminContext, flags: Flags) => {
  const [name, address] = [text(flags, 'name'), optionalEmail(flags)]
  await using database = await joinDatabase(config, log, { makesSchema: true })
  // It must not start due work of other workspaces, but only make this one.
  await using workplace = await openWorkplace(
    config,
    { ...database.options, max: 2 },
    { log, overrides: { sweepMs: 0 } },
  )
  const workspace_id = await createWorkspace(workplace.db, name)
  if (flags.sandbox) {
    const account = await workplace.sandbox.connect(
      workspace_id,
      `workspace-${workspace_id.slice(-12)}`,
    )
    await connectAccount(workplace.world, workspace_id, {
      network: workplace.sandbox.name,
      ...account,
    })
  }
  const { api_key } = await createKey(workplace.db, {
    tenantId: workspace_id,
    scopes: [...scopes],
    name: 'created by the operator',
  })
  const place = { db: workplace.db, publicUrl: config.publicUrl }
  return {
    workspace_id,
    api_key,
    sign_in_url: await inviteByOperator(place, {
      tenantId: workspace_id,
      role: 'owner',
      email: address,
    }),
  }
}

const listWorkspaces = (flags: Flags) => {
  const wanted = pageOf(pageFlags(flags))
  return async (db: Db): Promise<object> => {
    const { rows: workspaces, next_cursor } = pageResult(
      await listTenants(db, wanted),
      wanted.limit,
    )
    return { workspaces, next_cursor }
  }
}

const commands: Record<string, (place: AdminContext, flags: Flags) => Promise<object>> = {
  'tenant create': createTenant,
  'tenant list': (place, flags) => withDb(place, listWorkspaces(flags)),
  'key create': (place, flags) => {
    const key = {
      tenantId: uuid(flags, 'workspace'),
      scopes: scopeList(flags),
      name: 'created by the operator',
    }
    return withDb(place, (db) => createKey(db, key))
  },
  'key revoke': async (place, flags) => {
    const id = uuid(flags, 'id')
    return (await withDb(place, (db) => revokeKey(db, id)))
      ? { id, revoked: true }
      : fail('not_found', 'no such key')
  },
  'member invite': (place, flags) => {
    const invited = {
      tenantId: uuid(flags, 'workspace'),
      role: choice(flags, 'role', roles),
      email: optionalEmail(flags),
    }
    const { publicUrl } = place.config
    return withDb(place, async (db) => ({
      sign_in_url: await inviteByOperator({ db, publicUrl }, invited),
    }))
  },
  'person reset': (place, flags) => {
    const [address, id] = [email(flags), flags.id === undefined ? undefined : uuid(flags, 'id')]
    const { publicUrl } = place.config
    return withDb(place, (db) => resetByOperator({ db, publicUrl }, { email: address, id }))
  },
  'plan set': (place, flags) => withDb(place, setPlan(flags)),
  'plan get': (place, flags) => withDb(place, getPlan(flags)),
  'work failing': (place, flags) => withDb(place, listFailing(flags)),
  'files check': ({ config }) => checkFiles(config),
  ...webhookCommands,
}

const flagNames = [
  'name',
  'workspace',
  'role',
  'scopes',
  'id',
  'plan',
  'billing',
  'url',
  'events',
  'email',
  'limit',
  'cursor',
] as const
const options = {
  ...Object.fromEntries(flagNames.map((name) => [name, { type: 'string' as const }])),
  sandbox: { type: 'boolean' as const },
  'clear-overrides': { type: 'boolean' as const },
  override: { type: 'string' as const, multiple: true },
}

const parse = (args: string[]): { flags: Flags; positionals: string[] } => {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    return { flags: values as Flags, positionals }
  } catch (cause) {
    throw new AppError(
      'invalid_input',
      cause instanceof Error ? cause.message : 'the arguments are not valid',
    )
  }
}

interface Surroundings {
  /** The environment. By default that of this process. */
  env?: Record<string, string | undefined>
  /** Both print a line. */
  out(line: string): void
  err(line: string): void
}

const ofThisProcess: Surroundings = {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
}

/** Runs a command and returns its exit code. */
export async function admin(
  args: string[],
  { env, out, err }: Surroundings = ofThisProcess,
): Promise<number> {
  try {
    if (args.length === 0 || args.includes('--help')) {
      out(help)
      return args.length === 0 ? 2 : 0
    }
    const { flags, positionals } = parse(args)
    const command =
      commands[positionals.join(' ')] ??
      fail('invalid_input', `no such command: ${positionals.join(' ')}\n${help}`)
    out(JSON.stringify(await command({ config: readConfig(env), log: createLog('warn') }, flags)))
    return 0
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    err(`tendril admin: ${cause.message}`)
    return errorTable[cause.code].exit
  }
}
