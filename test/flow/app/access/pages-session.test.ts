/** How a browser's session renews itself while its person reads pages, in any number of tabs. */
import { describe, expect, test } from 'bun:test'
import { createVisitor, type Visitor } from '#test/support/http/visitor'
import { joinAs, PASSWORD } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()

const CONTINUE = '/api/v1/app/session/continue'
const visitor = () => createVisitor(app)

const signedIn = async () => {
  const person = await joinAs(app)
  const one = visitor()
  await one.send('/sign-in', { email: person.email, password: PASSWORD })
  return { ...person, one }
}

/** Replaces the access token by one that is no longer valid. */
const ageAccess = ({ cookies }: Visitor) => cookies.set('tendril', { value: 'too.old.token', path: '/' })

describe('a session whose access token is too old', () => {
  test('renews itself, and returns to the page', async () => {
    const { one, email } = await signedIn()
    const refresh = one.cookies.get('tendril-refresh')!.value
    ageAccess(one)
    const to = (await one.get('/device?code=BCDF-GHJK')).location!
    expect(to).toBe(`${CONTINUE}?next=${encodeURIComponent('/device?code=BCDF-GHJK')}`)
    expect((await one.get(to)).location).toBe('/device?code=BCDF-GHJK')
    const { text } = await one.get('/')
    expect(text).toContain(email)
    expect(text).toContain('Owners can download private conversations with the agent')
    expect(one.cookies.get('tendril-refresh')!.value).not.toBe(refresh)
  })

  test('renews itself in three tabs at once, one of which rotates the refresh token', async () => {
    const { one, email } = await signedIn()
    ageAccess(one)
    const tabs = Array.from({ length: 3 }, () => {
      const tab = createVisitor(app)
      for (const [name, cookie] of one.cookies) tab.cookies.set(name, cookie)
      return tab
    })
    const replies = await Promise.all(tabs.map((tab) => tab.get(`${CONTINUE}?next=/`)))
    expect(replies.map(({ location }) => location)).toEqual(['/', '/', '/'])
    expect(replies.map(({ headers }) => headers.getSetCookie().length).sort()).toEqual([1, 1, 2])
    for (const tab of tabs) expect((await tab.get('/')).text).toContain(email)
  })

  test('ends when a refresh token is used again later, as with the API', async () => {
    const { one } = await signedIn()
    const thief = createVisitor(app)
    for (const [name, cookie] of one.cookies) thief.cookies.set(name, cookie)
    ageAccess(one)
    await one.get(`${CONTINUE}?next=/`)
    await app.owner`update session set last_used_at = last_used_at - interval '11 seconds' where revoked_at is null`
    expect((await thief.get(`${CONTINUE}?next=/`)).location).toBe('/sign-in')
    expect((await one.get('/')).location).toBe(CONTINUE)
    expect((await one.get(CONTINUE)).location).toBe('/sign-in')
  })

  test('is retried once for a browser that withheld the refresh token, and then needs a sign-in', async () => {
    const one = visitor()
    const first = await one.get(`${CONTINUE}?next=/device`)
    expect([first.status, first.headers.get('refresh')]).toEqual([200, `0; url=${CONTINUE}?again=1&next=%2Fdevice`])
    expect((await one.get(`${CONTINUE}?again=1&next=%2Fdevice`)).location).toBe('/sign-in?next=%2Fdevice')
  })
})
