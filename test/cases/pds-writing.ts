/** What a PDS answers to requests that write records. */
import { describe, expect, test } from 'bun:test'
import { newPdsUser, type PdsCase, type PdsUser, refusedBy } from '#test/support/network/pds-client'
import { pdsRecords } from '#test/support/network/pds-records'

const { POST, LIKE, KEY, CREATED_AT, recordOf, repo, put, get, list, keysOf, invalid } = pdsRecords

const putting = (it: PdsCase): void => {
  test('a new key is written; the same value again answers alike, and commits nothing', async () => {
    const user = await newPdsUser(it)
    const uri = `at://${user.did}/${POST}/${KEY}`
    const first = await put(it, user, recordOf('Hello'))
    const { cid, commit } = first.body
    expect(first).toMatchObject({ status: 200, body: { uri, validationStatus: 'valid' } })
    expect(cid).toMatch(/^bafyrei[a-z2-7]{52}$/)
    expect(commit!.cid).toMatch(/^bafyrei[a-z2-7]{52}$/)
    expect(commit!.rev).toMatch(/^[a-z2-7]{13}$/)
    const again = await put(it, user, recordOf('Hello'))
    expect(again).toMatchObject({ status: 200, body: { uri, cid } })
    expect(again.body.commit).toBeUndefined()
    const reordered = { createdAt: CREATED_AT, text: 'Hello', $type: POST }
    expect((await put(it, user, reordered)).body).toEqual(again.body)
    expect(await get(it, user)).toMatchObject({
      status: 200,
      body: { uri, cid, value: recordOf('Hello') },
    })
  })

  test('another value under a key in use is an InvalidSwap, and changes nothing', async () => {
    const user = await newPdsUser(it)
    const { body } = await put(it, user, recordOf('One'))
    expect(await put(it, user, recordOf('Two'))).toEqual(
      refusedBy(400, 'InvalidSwap', `Record was at ${body.cid}`),
    )
    expect((await get(it, user)).body.value.text).toBe('One')
  })

  test('without swapRecord, or with the right one, a value is overwritten', async () => {
    const user = await newPdsUser(it)
    await put(it, user, recordOf('One'))
    const two = await put(it, user, recordOf('Two'), { swapRecord: undefined })
    expect(two.status).toBe(200)
    const three = await put(it, user, recordOf('Three'), { swapRecord: two.body.cid })
    expect(three.status).toBe(200)
    expect(await put(it, user, recordOf('Four'), { swapRecord: two.body.cid })).toEqual(
      refusedBy(400, 'InvalidSwap', `Record was at ${three.body.cid}`),
    )
    expect((await get(it, user)).body.value.text).toBe('Three')
  })

  test('a post that was deleted comes back when it is put again', async () => {
    const user = await newPdsUser(it)
    const { body } = await put(it, user, recordOf('Hello'))
    const remove = () =>
      repo(it, 'deleteRecord', {
        body: { repo: user.did, collection: POST, rkey: KEY },
        token: user.accessJwt,
      })
    expect(await remove()).toMatchObject({ status: 200, body: { commit: expect.any(Object) } })
    expect(await get(it, user)).toEqual(
      refusedBy(400, 'RecordNotFound', `Could not locate record: ${body.uri}`),
    )
    expect(await remove()).toMatchObject({ status: 200, body: {} })
    expect((await put(it, user, recordOf('Hello'))).body).toMatchObject({
      cid: body.cid,
      commit: expect.any(Object),
    })
    expect((await get(it, user)).status).toBe(200)
  })

  test('the cid is that of the value in every repository', async () => {
    const [one, other] = [await newPdsUser(it), await newPdsUser(it)]
    const record = recordOf('Naïve café 👩‍👩‍👧‍👦', {
      langs: ['en'],
      numbers: [0, 23, 24, 70_000, -1],
    })
    const cids = [
      (await put(it, one, record)).body.cid,
      (await put(it, other, record, { rkey: '3kabcdefghij2' })).body.cid,
    ]
    expect(new Set(cids).size).toBe(1)
    expect((await put(it, one, recordOf('hi'), { rkey: '3kabcdefghij3' })).body.cid).toBe(
      'bafyreiem3iy5dzfv5qi3hg33cosict5lherefagob4uijme4faqlcfyuj4',
    )
  })

  test('what is no record is refused, and other collections are taken unchecked', async () => {
    const user = await newPdsUser(it)
    expect(await put(it, user, null)).toEqual(
      invalid('Expected object value type (got null) at $.record'),
    )
    expect(await put(it, user, { ...recordOf('x'), $type: LIKE })).toEqual(
      invalid(`Invalid $type: expected ${POST}, got ${LIKE}`),
    )
    expect(await put(it, user, recordOf('x'), { collection: 'no' })).toEqual(
      invalid('Invalid NSID (got "no") at $.collection'),
    )
    expect(await put(it, user, recordOf('x'), { swapRecord: 'x' })).toEqual(
      invalid('Invalid CID string (got "x") at $.swapRecord'),
    )
    expect((await put(it, user, recordOf('x', { half: 0.5 }))).status).toBe(400)
    const collection = 'com.example.thing'
    expect((await put(it, user, { $type: collection }, { collection })).body.validationStatus).toBe(
      'unknown',
    )
  })

  test('nobody writes without a token, or into the repository of another', async () => {
    const [user, other] = [await newPdsUser(it), await newPdsUser(it)]
    expect(await repo(it, 'putRecord', { body: {} })).toEqual(refusedBy(401, 'AuthMissing'))
    expect(await put(it, user, recordOf('x'), { repo: other.did })).toEqual(
      refusedBy(401, 'AuthenticationRequired'),
    )
    expect(await put(it, user, recordOf('x'), { repo: `did:plc:${'a'.repeat(24)}` })).toEqual(
      refusedBy(403, 'AccountNotFound'),
    )
    expect((await put(it, user, recordOf('x'), { repo: user.handle })).status).toBe(200)
  })
}

const creating = (it: PdsCase): void => {
  const create = (user: PdsUser, record: object, more = {}) =>
    repo(it, 'createRecord', {
      body: { repo: user.did, collection: POST, record, ...more },
      token: user.accessJwt,
    })

  test('createRecord makes a key, makes another post each time, and is a 500 on a key in use', async () => {
    const user = await newPdsUser(it)
    const [one, two] = [await create(user, recordOf('x')), await create(user, recordOf('x'))]
    expect(one.body.cid).toBe(two.body.cid)
    expect((await list(it, user)).body.records.map(({ uri }) => uri)).toEqual([
      two.body.uri,
      one.body.uri,
    ])
    expect((await create(user, recordOf('x'), { rkey: KEY })).status).toBe(200)
    expect(await create(user, recordOf('x'), { rkey: KEY })).toEqual(
      refusedBy(500, 'InternalServerError', 'Internal Server Error'),
    )
    expect((await create(user, recordOf('y'.repeat(301)))).status).toBe(400)
  })

  test('a like of the same takes the place of an earlier one by createRecord, not by putRecord', async () => {
    const user = await newPdsUser(it)
    const { body } = await put(it, user, recordOf('Hello'))
    const like = {
      $type: LIKE,
      subject: { uri: body.uri, cid: body.cid },
      createdAt: CREATED_AT,
    }
    await create(user, like, { collection: LIKE })
    const second = await create(user, like, { collection: LIKE })
    const likes = async () => keysOf((await list(it, user, { collection: LIKE })).body)
    expect(await likes()).toEqual([second.body.uri.split('/').at(-1)])
    expect((await put(it, user, like, { collection: LIKE })).status).toBe(200)
    expect(await likes()).toHaveLength(2)
    expect(
      await put(it, user, { $type: LIKE, createdAt: CREATED_AT }, { collection: LIKE }),
    ).toEqual(invalid(`Invalid ${LIKE} record: Missing required key "subject" at $.record`))
  })

  test('deleteRecord with another cid is an InvalidSwap', async () => {
    const user = await newPdsUser(it)
    const { body } = await put(it, user, recordOf('Hello'))
    const other = await put(it, user, recordOf('Other'), { rkey: '3kabcdefghij2' })
    expect(
      await repo(it, 'deleteRecord', {
        body: { repo: user.did, collection: POST, rkey: KEY, swapRecord: other.body.cid },
        token: user.accessJwt,
      }),
    ).toEqual(refusedBy(400, 'InvalidSwap', `Record was at ${body.cid}`))
  })
}

export const pdsWritingCases = (it: PdsCase): void => {
  describe('putting', () => putting(it))
  describe('creating and deleting', () => creating(it))
}
