/** The client of a deployment on this machine, which needs no key. */
import { createOauthClient } from '#port/network/bluesky/oauth/client'

export const loopbackClient = createOauthClient({
  publicUrl: 'http://localhost:7070',
  key: () => Promise.reject(new Error('a client on this machine has no key')),
})
