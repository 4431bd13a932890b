package servicetest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"net/http"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// newKey returns a key for the secrets of one stack.
func newKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
}

func (on *stack) cipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(on.key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (on *stack) encrypt(plaintext []byte) ([]byte, error) {
	aead, err := on.cipher()
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, plaintext, nil), nil
}

// decrypt decrypts a value that was encrypted for this stack, and no other.
func (on *stack) decrypt(ciphertext []byte) ([]byte, error) {
	aead, err := on.cipher()
	if err != nil {
		return nil, err
	}
	plaintext, err := aead.Open(nil, nil, ciphertext, nil)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "Bad Request: the ciphertext is not of stack %s/%s", on.project, on.name)
	}
	if plaintext == nil {
		plaintext = []byte{}
	}
	return plaintext, nil
}

func encryptValue(r request, on *stack) (any, error) {
	var wanted apitype.EncryptValueRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	ciphertext, err := on.encrypt(wanted.Plaintext)
	return apitype.EncryptValueResponse{Ciphertext: ciphertext}, err
}

func (s *Server) encryptBatch(r request, on *stack) (any, error) {
	var wanted apitype.BatchEncryptRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	if s.options.NoBatches {
		return nil, refuse(http.StatusNotFound, "Not Found")
	}
	answer := apitype.BatchEncryptResponse{}
	for _, plaintext := range wanted.Plaintexts {
		ciphertext, err := on.encrypt(plaintext)
		if err != nil {
			return nil, err
		}
		answer.Ciphertexts = append(answer.Ciphertexts, ciphertext)
	}
	return answer, nil
}

func decryptValue(r request, on *stack) (any, error) {
	var wanted apitype.DecryptValueRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	plaintext, err := on.decrypt(wanted.Ciphertext)
	return apitype.DecryptValueResponse{Plaintext: plaintext}, err
}

func decryptBatch(r request, on *stack) (any, error) {
	var wanted apitype.BatchDecryptRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	answer := apitype.BatchDecryptResponse{Plaintexts: map[string][]byte{}}
	for _, ciphertext := range wanted.Ciphertexts {
		plaintext, err := on.decrypt(ciphertext)
		if err != nil {
			return nil, err
		}
		answer.Plaintexts[base64.StdEncoding.EncodeToString(ciphertext)] = plaintext
	}
	return answer, nil
}

func logDecryption(request, *stack) (any, error) { return nil, nil }
