/** `com.atproto.server` and `com.atproto.identity` of the fake PDS. */
import { lex } from './pds-check.ts'
import { invalidRequest, type XrpcCall, type XrpcMethod } from './pds-methods.ts'
import { type PdsHeldAccount, SERVICE_DID, XrpcError } from './pds-world.ts'

const { atIdentifier, boolean, handle, object, text } = lex

const DOMAINS = ['.test', '.example']

const about = (account: PdsHeldAccount) => ({
  did: account.did,
  handle: account.handle,
  email: account.email,
  emailConfirmed: false,
  active: account.status === 'active',
  ...(account.status === 'active' ? {} : { status: account.status }),
})

const createAccount = ({ world, url, input }: XrpcCall) => {
  const { email, password } = input as Record<string, string>
  const name = (input.handle as string).toLowerCase()
  if (!email) throw invalidRequest('Email is required')
  if (!DOMAINS.some((domain) => name.endsWith(domain)))
    throw new XrpcError(400, 'UnsupportedDomain', 'Not a supported handle domain')
  if (world.find(name)) throw invalidRequest(`Handle already taken: ${name}`)
  if (world.find(email)) throw invalidRequest(`Email already taken: ${email}`)
  const account = world.add({ handle: name, email, password: password ?? '' })
  const didDoc = world.documentOf(account.did, url)
  return { handle: name, did: account.did, didDoc, ...world.newSession(account, null) }
}

const wrongPassword = (): XrpcError =>
  new XrpcError(401, 'AuthenticationRequired', 'Invalid identifier or password')

const createSession = ({ world, input }: XrpcCall) => {
  const { identifier, password } = input as Record<string, string>
  const account = world.find(identifier!)
  if (!account) throw wrongPassword()
  const isDown = account.status === 'takendown'
  const isOwn = account.password === password
  const named = [...account.appPasswords].find(([, made]) => made.password === password)
  if (!isOwn && (isDown || !named)) throw wrongPassword()
  if (isDown) throw new XrpcError(401, 'AccountTakedown', 'Account has been taken down')
  return { ...world.newSession(account, isOwn ? null : named![0]), ...about(account) }
}

const refreshSession = ({ world, claims }: XrpcCall) => {
  const account = world.find(claims.sub)
  if (!account) throw invalidRequest(`Could not find user info for account: ${claims.sub}`)
  if (account.status === 'takendown')
    throw new XrpcError(401, 'AccountTakedown', 'Account has been taken down')
  const rotated = world.rotate(account, claims.jti!)
  if (!rotated) throw new XrpcError(400, 'ExpiredToken', 'Token has been revoked')
  return { ...rotated, ...about(account) }
}

const getSession = ({ world, claims }: XrpcCall) => {
  const account = world.find(claims.sub)
  if (!account || account.status === 'takendown')
    throw invalidRequest(`Could not find user info for account: ${claims.sub}`)
  return about(account)
}

const createAppPassword = ({ world, caller, input }: XrpcCall) => {
  const [name, privileged] = [input.name as string, input.privileged === true]
  if (caller.appPasswords.has(name))
    throw new XrpcError(500, 'InternalServerError', 'Internal Server Error')
  return { name, ...world.addAppPassword(caller, name, privileged) }
}

const resolveHandle = ({ world, input }: XrpcCall) => {
  const name = (input.handle as string).toLowerCase()
  const account = world.find(name)
  if (account?.status === 'active') return { did: account.did }
  const isOfService = DOMAINS.some((domain) => name.endsWith(domain))
  const code = isOfService ? 'HandleNotFound' : 'InvalidRequest'
  throw new XrpcError(400, code, 'Unable to resolve handle')
}

export const sessionMethods: Record<string, XrpcMethod> = {
  'com.atproto.server.describeServer': {
    verb: 'GET',
    run: () => ({
      did: SERVICE_DID,
      availableUserDomains: DOMAINS,
      inviteCodeRequired: false,
      blobUploadLimit: 5_242_880,
      links: {},
      contact: {},
    }),
  },
  'com.atproto.server.createAccount': {
    verb: 'POST',
    input: object({ handle, 'email?': text(), 'password?': text() }),
    run: createAccount,
  },
  'com.atproto.server.createSession': {
    verb: 'POST',
    input: object({ identifier: text(), password: text() }),
    run: createSession,
  },
  'com.atproto.server.refreshSession': { verb: 'POST', auth: 'refresh', run: refreshSession },
  'com.atproto.server.deleteSession': {
    verb: 'POST',
    auth: 'ended',
    run: ({ world, claims }) => world.revoke(claims.jti!),
  },
  'com.atproto.server.getSession': { verb: 'GET', auth: 'access', run: getSession },
  'com.atproto.server.createAppPassword': {
    verb: 'POST',
    auth: 'own',
    input: object({ name: text(), 'privileged?': boolean }),
    run: createAppPassword,
  },
  'com.atproto.server.listAppPasswords': {
    verb: 'GET',
    auth: 'access',
    run: ({ caller }) => ({
      passwords: [...caller.appPasswords]
        .map(([name, { privileged, createdAt }]) => ({ name, createdAt, privileged }))
        .toReversed(),
    }),
  },
  'com.atproto.server.revokeAppPassword': {
    verb: 'POST',
    auth: 'own',
    input: object({ name: text() }),
    run: ({ world, caller, input }) => world.revokeAppPassword(caller, input.name as string),
  },
  'com.atproto.server.deactivateAccount': {
    verb: 'POST',
    auth: 'own',
    input: object({}),
    run: ({ world, caller }) => world.setStatus(caller, 'deactivated'),
  },
  'com.atproto.server.activateAccount': {
    verb: 'POST',
    auth: 'own',
    run: ({ world, caller }) => world.setStatus(caller, 'active'),
  },
  'com.atproto.identity.resolveHandle': {
    verb: 'GET',
    input: object({ handle }),
    run: resolveHandle,
  },
  'com.atproto.sync.getRepoStatus': {
    verb: 'GET',
    input: object({ did: atIdentifier }),
    run: ({ world, input }) => {
      const account = world.find(input.did as string)
      if (!account)
        throw new XrpcError(400, 'RepoNotFound', `Could not find repo for DID: ${input.did}`)
      const { did, active, ...rest } = about(account)
      return { did, active, ...('status' in rest ? { status: rest.status } : {}) }
    },
  },
}
