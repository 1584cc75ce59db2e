// Philox4x32-10, a generator that computes its n-th words from n.
//
// J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011. A round
// multiplies two words of the state by constants and mixes the halves of the products with the other words and the
// key. The counter is the lowest word of the state; the others are zero.

void philox4x32(const unsigned *counter, const unsigned *key, unsigned *words) {
  unsigned x0 = counter[0], x1 = 0, x2 = 0, x3 = 0;
  unsigned k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    unsigned long long p = 0xD2511F53ull * x0, q = 0xCD9E8D57ull * x2;
    x0 = (unsigned)(q >> 32) ^ x1 ^ k0;
    x2 = (unsigned)(p >> 32) ^ x3 ^ k1;
    x1 = (unsigned)q;
    x3 = (unsigned)p;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  words[0] = x0;
  words[1] = x1;
  words[2] = x2;
  words[3] = x3;
}
